import { ErrorNote } from "../../shared/components/error_note";
import { service, useAsked, useDoing } from "../asked";
import { type Device, deviceListOf } from "../wire";
import { day } from "../words";

/** The public keys that names may be sealed to for one API key. */
export function Devices({ keyId }: { keyId: string }) {
  const { value, problem, again } = useAsked(`/devices?key=${encodeURIComponent(keyId)}`, deviceListOf);
  const revoking = useDoing();
  const revoke = (device: Device) =>
    revoking.attempt(async () => {
      await service().tell(`/devices/${device.fingerprint}?key=${encodeURIComponent(keyId)}`, { method: "DELETE" });
      again();
    });
  const wrong = problem ?? revoking.problem;
  return (
    <section class="devices" aria-label={`Devices of ${keyId}`}>
      {wrong && <ErrorNote problem={wrong} />}
      {value && (
        <p class="quiet">
          {value.required
            ? "Names go to registered devices alone; an admin registers them with arog device register."
            : "Names go to any public key that comes with this API key, but to none that was revoked."}
          {value.devices.length === 0 && " None is registered."}
        </p>
      )}
      <ul>
        {value?.devices.map((device) => (
          <li key={device.fingerprint} class="file-row">
            <code class="file-name">{device.fingerprint.slice(0, 16)}…</code>
            <span class="quiet">
              {device.revoked_at === null ? `since ${day(device.registered_at)}` : `revoked ${day(device.revoked_at)}`}
            </span>
            {device.revoked_at === null && (
              <button type="button" disabled={revoking.isBusy} onClick={() => revoke(device)}>Revoke</button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
