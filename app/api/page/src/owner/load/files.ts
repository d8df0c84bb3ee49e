/** The files of a load: their formats, and lines of them, read in this browser. */

export const ENDINGS = [".ttl", ".nt", ".nq", ".trig", ".n3", ".rdf", ".owl", ".xml", ".jsonld", ".tsv", ".csv", ".txt"];
export const ACCEPTED = [...ENDINGS, ".gz", ".toml"].join(",");

export interface ChosenFile {
  file: File;
  part: "file" | "ontology";
}

/** A file's format with `.gz` where it is packed; null where a load does not take it. */
export function endingOf(name: string): string | null {
  const lower = name.toLowerCase();
  const packed = lower.endsWith(".gz") ? ".gz" : "";
  const ending = ENDINGS.find((each) => lower.slice(0, lower.length - packed.length).endsWith(each));
  return ending === undefined ? null : ending + packed;
}

/** The parts of an upload; of a file's name only its ending is sent. */
export function formOf(files: readonly ChosenFile[], policy: string): FormData {
  const form = new FormData();
  for (const { file, part } of files) {
    form.append(part, file, part + (endingOf(file.name) ?? ""));
  }
  if (policy.trim() !== "") {
    form.append("policy", policy);
  }
  return form;
}

const NUMBERED = /\b(file|ontology)-(\d+)((?:\.[a-z0-9]+)+)/g;

/** The service calls files by their number; here they have their names again. */
export function withFileNames(words: string, files: readonly ChosenFile[]): string {
  return words.replace(NUMBERED, (found, part: string, number: string) => {
    return fileOf(files, part, Number(number))?.name ?? found;
  });
}

export interface FaultPlace {
  file: File;
  line: number | null;
}

/** The place that a load's error begins with: `file-2.ttl, line 7: ...`. */
export function placeOf(message: string, files: readonly ChosenFile[]): FaultPlace | null {
  const found = /^(file|ontology)-(\d+)(?:\.[a-z0-9]+)+(?:, line (\d+))?: /.exec(message);
  const file = found && fileOf(files, found[1] ?? "", Number(found[2]));
  return file ? { file, line: found[3] === undefined ? null : Number(found[3]) } : null;
}

function fileOf(files: readonly ChosenFile[], part: string, number: number): File | undefined {
  return files.filter((each) => each.part === part)[number - 1]?.file;
}

export interface Line {
  number: number;
  text: string;
}

const LONGEST_LINE = 400;

/** The lines from `margin` before `line` to `margin` behind it. Fewer where the file ends, or has changed since. */
export async function linesAround(file: File, line: number, margin = 2): Promise<Line[]> {
  const lines: Line[] = [];
  const reader = textOf(file).getReader();
  const first = Math.max(1, line - margin);
  let number = 1;
  let text = "";
  const keep = () => {
    if (number >= first) {
      lines.push({ number, text: text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} …` : text });
    }
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        keep();
        return lines;
      }
      for (const [at, piece] of value.split("\n").entries()) {
        if (at > 0) {
          keep();
          number += 1;
          text = "";
          if (number > line + margin) {
            return lines;
          }
        }
        text = number >= first && text.length <= LONGEST_LINE ? text + piece.replace(/\r$/, "") : text;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function textOf(file: File): ReadableStream<string> {
  const bytes: ReadableStream<Uint8Array<ArrayBuffer>> = file.stream();
  const plain = file.name.toLowerCase().endsWith(".gz") ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes;
  return plain.pipeThrough(new TextDecoderStream());
}
