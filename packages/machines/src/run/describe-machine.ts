import { type Charter, CompiledCharter } from '../charter/charter.ts';
import { type Instance, type Tree, walk } from '../tree/tree.ts';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';

/** A machine, or a charter alone, as a Mermaid flowchart: the nodes, their transitions, and the current instances. */
export function describeMachine(machine: Machine | Charter): string {
  const isMachine = machine instanceof LiveMachine;
  const charter = isMachine ? machine.charter : CompiledCharter.of(machine as Charter);
  const lines = ['flowchart TD', ...drawCharter(charter), ...(isMachine ? drawTree(charter, machine.tree) : [])];
  return `${lines.join('\n')}\n`;
}

function drawCharter(charter: CompiledCharter): string[] {
  const ids = nodeIds(charter);
  const boxes = [...ids].map(
    ([name, id]) => `    ${id}${charter.node(name).worker ? `[["${text(name)}"]]` : `["${text(name)}"]`}`,
  );
  const arrows = [...ids].flatMap(([name, id]) => {
    const own = charter.node(name).transitions;
    const shared = [...charter.transitions.values()].filter((transition) => !own.has(transition.name));
    return [...own.values(), ...shared].flatMap((transition) => drawTransition(id, transition, ids));
  });
  return ['  subgraph charter', ...boxes, ...arrows, '  end'];
}

function drawTransition(
  from: string,
  { name, targets }: { readonly name: string; readonly targets: readonly string[] },
  ids: ReadonlyMap<string, string>,
): string[] {
  // Only the handler knows where it leads, so the arrow points back to its node.
  if (targets.length === 0) return [`    ${from} -.->|"${text(name)}"| ${from}`];
  return targets.map((target) => `    ${from} -->|"${text(name)}"| ${ids.get(target)}`);
}

function drawTree(charter: CompiledCharter, tree: Tree): string[] {
  const ids = nodeIds(charter);
  const lines = [...walk(tree.root)].flatMap((instance) => [
    `    ${boxId(instance.id)}("${text(label(instance, tree))}")`,
    ...instance.children.map((child) => `    ${boxId(instance.id)} --- ${boxId(child.id)}`),
  ]);
  const links = [...walk(tree.root)].map(({ id, node }) => `  ${boxId(id)} -.- ${ids.get(node)}`);
  return ['  subgraph instances', ...lines, '  end', ...links];
}

function label({ id, node, worker, phase, children }: Instance, { speaker }: Tree): string {
  const role = worker ? ', worker' : id === speaker && children.length === 0 ? ', primary' : '';
  return `${id}: ${node}${role}${children.length > 0 ? '' : `, ${phase.kind}`}`;
}

/** Node names may contain characters that Mermaid reserves, so each node gets an id. */
function nodeIds(charter: CompiledCharter): ReadonlyMap<string, string> {
  return new Map(charter.nodeNames.map((name, index) => [name, `n${index + 1}`]));
}

function boxId(id: string): string {
  return `i_${id.replaceAll('.', '_')}`;
}

function text(name: string): string {
  return name.replace(/["\n\r]/g, (character) => (character === '"' ? '#quot;' : ' '));
}
