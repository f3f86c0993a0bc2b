import type { ForkChanges } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';

/** What is different in a fork, in words: `message, model`. */
export function changesInForkWords(changes: ForkChanges): string {
  const { outcomes = {}, nodes = {}, ...others } = changes;
  const calls = Object.keys(outcomes).length;
  const words = [
    ...Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [WORDS[name] ?? name])),
    ...Object.keys(nodes).map((name) => `the node ${withVisibleControls(name)}`),
    ...(calls === 0 ? [] : [calls === 1 ? 'the outcome of a call' : `the outcomes of ${calls} calls`]),
  ];
  return words.length === 0 ? 'nothing changed' : `changed: ${words.join(', ')}`;
}

const WORDS: Readonly<Record<string, string>> = {
  instructions: 'instructions',
  model: 'model',
  settings: 'settings',
  message: 'a message',
  tools: 'tools',
};

/** A text that is JSON is that value; any other is the text itself. */
export function toResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
