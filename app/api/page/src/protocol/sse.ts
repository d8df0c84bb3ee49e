/** Server-sent events out of bytes that may be cut anywhere, as the HTML standard reads them. */

export interface ServerEvent {
  name: string;
  data: string;
}

/** Takes pieces of the stream; what is not a whole event yet is kept until its end comes. */
export class EventParser {
  private readonly decoder = new TextDecoder("utf-8");
  private rest = "";
  private name = "";
  private data: string[] = [];

  /** The events that are whole now. Comments and fields that nobody reads are passed over. */
  push(bytes: Uint8Array): ServerEvent[] {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const events: ServerEvent[] = [];
    for (let line = this.nextLine(); line !== null; line = this.nextLine()) {
      const event = this.take(line);
      if (event !== null) {
        events.push(event);
      }
    }
    return events;
  }

  /** The next line without its end, null where it is not whole; a CR at the end may belong to a CR LF. */
  private nextLine(): string | null {
    const found = /\r\n|\n|\r(?!$)/.exec(this.rest);
    if (found === null) {
      return null;
    }
    const line = this.rest.slice(0, found.index);
    this.rest = this.rest.slice(found.index + found[0].length);
    return line;
  }

  private take(line: string): ServerEvent | null {
    if (line === "") {
      const event = this.data.length ? { name: this.name || "message", data: this.data.join("\n") } : null;
      this.name = "";
      this.data = [];
      return event;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") {
      this.name = value;
    } else if (field === "data") {
      this.data.push(value);
    }
    return null;
  }
}

/** The events of a response's body, as they come. Ends with the body. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventParser();
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      yield* parser.push(read.value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
