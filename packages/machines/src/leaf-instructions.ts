import type { CompiledCharter } from './charter.ts';
import type { Instance, Tree } from './tree.ts';

/** What a leaf is told: its node's instructions, its state where they do not speak of it themselves, and its packs'. */
export function leafInstructions(charter: CompiledCharter, tree: Tree, { node, state, worker }: Instance): string {
  const { definition, hasState, packs } = charter.node(node);
  const { instructions } = definition;
  const parts = [typeof instructions === 'function' ? instructions(state as never) : instructions];
  if (typeof instructions === 'string' && hasState) parts.push(`Your state:\n${JSON.stringify(state)}`);
  if (!worker) {
    for (const { name, instructions: text } of packs) {
      if (text !== undefined) parts.push(typeof text === 'function' ? text(tree.packs[name] as never) : text);
    }
  }
  return parts.filter((part) => part !== '').join('\n\n');
}
