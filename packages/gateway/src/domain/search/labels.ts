import { hash } from 'node:crypto';
import type { SearchKind } from '../../ports/store/schema/tables.ts';

/*
 * What searches are limited by is part of the index, so that a search for a common word in a small project, or by a person who is in few
 * spaces, reads only their entries. Messages of spaces have the label of their space, everything else has that of its agent.
 */

export function labelOf(kind: 'project' | 'space' | 'agent', id: string): string {
  return `=${kind[0]}${hash('sha256', id).slice(0, 16)}`;
}

export function kindLabel(kind: SearchKind): string {
  return `=k${kind}`;
}
