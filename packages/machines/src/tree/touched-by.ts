import { findInstance, parentId, type Tree, walk } from './tree.ts';
import type { TreeEvent } from './tree-event.ts';

/** The instances whose place in the index may change with an event. */
export function touchedBy(event: TreeEvent, before: Tree, after: Tree): readonly string[] {
  switch (event.kind) {
    case 'patched':
    case 'queued':
      return [];
    case 'delivered':
      return [after.speaker];
    case 'moved':
      return idsWithin(before, event.id);
    case 'spawned':
      return idsWithin(after, event.id);
    case 'removed':
      return [event.id, parentId(event.id) ?? event.id];
    case 'ceded':
    case 'phased':
    case 'waiting':
    case 'settled':
    case 'answered':
      return [event.id];
  }
}

function idsWithin(tree: Tree, id: string): readonly string[] {
  const instance = findInstance(tree, id);
  return instance === undefined ? [] : [...walk(instance)].map((one) => one.id);
}
