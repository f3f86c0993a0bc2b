import type { Settlement } from '@lastcall/core';

/** Prints a call for people: the tool and its input, how it ended, and what the model reads. */
export function show({ toolName, input, outcome }: Settlement): void {
  const status = outcome.status === 'error' ? `error/${outcome.code}` : outcome.status;
  console.log(`▸ ${toolName} ${typeof input === 'string' ? input : JSON.stringify(input)}`);
  // Blank lines stay blank; the others are indented.
  console.log(`  ${status}: ${outcome.text.replace(/\n(?!\n)/g, '\n  ')}\n`);
}
