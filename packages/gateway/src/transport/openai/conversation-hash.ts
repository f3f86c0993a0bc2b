import { createHash } from 'node:crypto';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { Item } from './items.ts';

/** Separates conversations: two with different scopes never match, even if their texts are equal. */
export interface Scope {
  readonly agentId: string;
  readonly user?: string | undefined;
  readonly chatId?: string | undefined;
}

/** A hash of the conversation. Instructions are left out, because chat pages put the time of day into them. */
export function conversationHash(items: readonly Item[], scope: Scope): string {
  return sha256(canonicalJson([scope, items.flatMap(toHashed)]));
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function toHashed(item: Item): readonly unknown[] {
  switch (item.kind) {
    case 'user':
      return [['user', item.content]];
    case 'assistant':
      return item.text.trim() === '' ? [] : [['assistant', item.text.trim()]];
    case 'answer':
      return [['answer', item.callId, item.output]];
    case 'call':
      return [['call', item.callId]];
    case 'instructions':
      return [];
  }
}
