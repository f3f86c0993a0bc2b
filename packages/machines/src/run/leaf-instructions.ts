import type { CompiledCharter } from '../charter/charter.ts';
import { nounFor } from '../charter/noun-for.ts';
import { MachineError } from '../errors.ts';
import type { Instance, Tree } from '../tree/tree.ts';

/** What a leaf is told: its node's instructions, its state where they do not speak of it themselves, and its packs'. */
export function leafInstructions(charter: CompiledCharter, tree: Tree, { node, state, worker }: Instance): string {
  const { definition, hasState, packs } = charter.node(node);
  const { instructions } = definition;
  const parts = [textOf(instructions, state, `The instructions of "${node}"`)];
  if (typeof instructions === 'string' && hasState) parts.push(`Your state:\n${JSON.stringify(state)}`);
  if (!worker) {
    for (const { name, instructions: text } of packs) {
      if (text !== undefined) parts.push(textOf(text, tree.packs[name], `The instructions of the pack "${name}"`));
    }
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

/** A function that is async, or forgets to return, would tell the model "[object Promise]" or "undefined". */
function textOf(instructions: string | ((state: never) => string), state: unknown, whose: string): string {
  if (typeof instructions !== 'function') return instructions;
  const text: unknown = instructions(state as never);
  if (typeof text === 'string') return text;
  const what = text instanceof Promise ? 'a promise' : nounFor(text);
  throw new MachineError('machine', `${whose} must give a text at once, and gave ${what}.`);
}
