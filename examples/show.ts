import type { Settlement } from '@lastcall/core';

/** Prints a call as a person reads it: what was asked, how it ended, what the model is told. */
export function show({ toolName, input, outcome }: Settlement): void {
  const status = outcome.status === 'error' ? `error/${outcome.code}` : outcome.status;
  console.log(`▸ ${toolName} ${typeof input === 'string' ? input : JSON.stringify(input)}`);
  // Blank lines stay blank; the others are set in.
  console.log(`  ${status}: ${outcome.text.replace(/\n(?!\n)/g, '\n  ')}\n`);
}
