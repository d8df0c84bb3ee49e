/** Ratings of answers, and the request that sends one: ids, and the right names where the asker gave them. */

import type { ChatAnswer } from "../protocol/wire";

export type Rating = "right" | "wrong";

export interface RatingRequest {
  conversation: string;
  answer: string;
  rating: Rating;
  correct?: string[];
}

const MAX_CORRECT = 50;
const MAX_CORRECT_CHARS = 200;

export function ratingRequest(reply: ChatAnswer, rating: Rating, correct: string[]): RatingRequest {
  const request = { conversation: reply.conversation, answer: reply.id, rating };
  return rating === "wrong" && correct.length > 0 ? { ...request, correct } : request;
}

/** The names of a text with semicolons between them. */
export function rightAnswers(typed: string): string[] {
  return typed
    .split(";")
    .map((name) => name.trim().slice(0, MAX_CORRECT_CHARS))
    .filter((name) => name !== "")
    .slice(0, MAX_CORRECT);
}
