/** A conversation as a file to read: Markdown, its names opened here and in the file in clear. */

import { openNames } from "../protocol/reading";
import { restore } from "../protocol/restoration";
import type { ReaderKey } from "../protocol/sealing";
import { offerFile } from "../shared/saving";
import type { Conversation } from "../shared/stored_types";
import { pathLines } from "./path_line";

export function titleOf(conversation: Conversation): string {
  return conversation.title ?? conversation.turns[0]?.typed ?? "No question yet";
}

/** Names that do not open any more stay pseudonyms. */
export async function exportConversation(conversation: Conversation, key: ReaderKey): Promise<void> {
  const parts = [`# ${titleOf(conversation)}`, `Graph: ${conversation.graph}, ${new Date(conversation.created).toLocaleString()}`];
  for (const turn of conversation.turns) {
    parts.push(`## ${turn.typed}`);
    if (turn.reply === null) {
      parts.push("Not answered.");
    } else {
      const table = await openNames(turn.reply, key).catch(() => new Map());
      parts.push(restore(turn.reply.message.content, table), ...pathLines(turn.reply.evidence, table).map((line) => `How: ${line}`));
    }
  }
  offerFile("conversation.md", "text/markdown", `${parts.join("\n\n")}\n`);
}
