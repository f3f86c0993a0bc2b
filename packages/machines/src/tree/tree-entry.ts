import type { TreeEntry } from './log.ts';
import { findInstance, type Tree } from './tree.ts';
import type { TreeEvent } from './tree-event.ts';

/** The log entries of an event. Only patches, moves, spawns and cedes are logged here. */
export function toTreeEntry(event: TreeEvent, before: Tree, after: Tree): readonly TreeEntry[] {
  switch (event.kind) {
    case 'patched': {
      const { target, set, unset } = event;
      const id = target.kind === 'instance' ? target.id : before.speaker;
      return [{ kind: 'patched', instanceId: id, node: nodeOf(before, id), target, set, unset }];
    }
    case 'moved':
      return [{ kind: 'moved', instanceId: event.id, node: nodeOf(before, event.id), to: event.node }];
    case 'spawned': {
      const children = findInstance(after, event.id)?.children.slice(-event.children.length) ?? [];
      const born = children.map(({ id, node }) => ({ instanceId: id, node }));
      return [{ kind: 'spawned', instanceId: event.id, node: nodeOf(before, event.id), children: born }];
    }
    case 'ceded':
      return [{ kind: 'ceded', instanceId: event.id, node: nodeOf(before, event.id), content: event.content }];
    default:
      return [];
  }
}

function nodeOf(tree: Tree, id: string): string {
  return findInstance(tree, id)?.node ?? '';
}
