/** The files of a load: their formats, and lines of them, read in this browser. */

const RDF = [".ttl", ".turtle", ".ttls", ".nt", ".nq", ".trig", ".n3", ".rdf", ".owl", ".xml", ".jsonld"];
const TABLES = [".csv", ".tsv", ".txt", ".xlsx", ".xls", ".xlsb", ".ods", ".json", ".geojson", ".jsonl", ".ndjson", ".sql"];
const GRAPHS = [".graphml", ".ged", ".vcf", ".ics", ".bib"];
export const ENDINGS = [...RDF, ...TABLES, ...GRAPHS];
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

/** The parts of an upload. Tables keep the names of their files: the policy calls them so. */
export function formOf(files: readonly ChosenFile[], policy: string): FormData {
  const form = new FormData();
  for (const { file, part } of files) {
    form.append(part, file, file.name);
  }
  if (policy.trim() !== "") {
    form.append("policy", policy);
  }
  return form;
}

/** What a load tells of its files: `file-2.csv` is the second that was sent, whose name stands in no record. */
export function withOwnNames(text: string, files: readonly ChosenFile[]): string {
  const sent = [...files.filter((each) => each.part === "file"), ...files.filter((each) => each.part === "ontology")];
  return text.replace(/\bfile-(\d+)(\.[a-z0-9]+(?:\.gz)?)/g, (told: string, number: string, ending: string) => {
    const name = sent[Number(number) - 1]?.file.name ?? "";
    return endingOf(name) === ending ? name : told;
  });
}

export interface FaultPlace {
  file: File;
  line: number | null;
}

/** The place that a load's error begins with: `customers.csv, line 7: ...`. */
export function placeOf(message: string, files: readonly ChosenFile[]): FaultPlace | null {
  // The longest name first, or "a.csv" would hide in "data.csv".
  const named = [...files].sort((one, other) => other.file.name.length - one.file.name.length);
  const file = named.find((each) => message.startsWith(`${each.file.name}, `) || message.startsWith(`${each.file.name}: `))?.file;
  if (file === undefined) {
    return null;
  }
  const line = /^, line (\d+): /.exec(message.slice(file.name.length));
  return { file, line: line === null ? null : Number(line[1]) };
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
