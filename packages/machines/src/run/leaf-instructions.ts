import type { CompiledCharter } from '../charter/charter.ts';
import { nounFor } from '../charter/noun-for.ts';
import { MachineError } from '../errors.ts';
import type { Instance, Tree } from '../tree/tree.ts';

/** The instructions of a leaf: its node's, its state if the node's are a plain text, and its packs'. `own`: in place of the node's. */
export function leafInstructions(
  charter: CompiledCharter,
  tree: Tree,
  { node, state, worker }: Instance,
  own?: string,
): string {
  const { definition, hasState, packs } = charter.node(node);
  const instructions = own ?? definition.instructions;
  const parts = [textOf(instructions, state, `The instructions of "${node}"`)];
  if (typeof instructions === 'string' && hasState) parts.push(`Your state:\n${JSON.stringify(state)}`);
  if (!worker) {
    for (const { name, instructions: text } of packs) {
      if (text !== undefined) parts.push(textOf(text, tree.packs[name], `The instructions of the pack "${name}"`));
    }
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

/**
 * Without this check, an async function, or one that forgets to return, would send the model "[object Promise]" or
 * "undefined".
 */
function textOf(instructions: string | ((state: never) => string), state: unknown, whose: string): string {
  if (typeof instructions !== 'function') return instructions;
  const text: unknown = instructions(state as never);
  if (typeof text === 'string') return text;
  const what = text instanceof Promise ? 'a promise' : nounFor(text);
  throw new MachineError('machine', `${whose} must return a text synchronously, and returned ${what}.`);
}
