import type { Answerers, Member } from '@lastcall/client';
import type { Answerer } from '../../data/pending.ts';

export interface Right {
  readonly isMine: boolean;
  /** Who may answer, in words for the signed-in user. */
  readonly words: string;
}

/** Who may answer a card, by the gateway's rules. `members` is undefined if the card is not shown in a space. */
export function whoMayAnswer(
  answerers: Answerers | undefined,
  members: readonly Member[] | undefined,
  me: Answerer,
): Right {
  const own = members?.find(({ entityId }) => entityId === me.entityId);
  const isNamed = (member: Pick<Member, 'entityId' | 'role'>): boolean =>
    answerers?.entities?.includes(member.entityId) === true || answerers?.roles?.includes(member.role) === true;
  const isOpen = answerers === undefined;
  const isMine = me.isOperator || members === undefined || (own !== undefined && (isOpen || isNamed(own)));
  return { isMine, words: isOpen ? 'anyone here may answer' : named(answerers, (members ?? []).filter(isNamed), me) };
}

function named({ roles = [] }: Answerers, members: readonly Member[], me: Answerer): string {
  const nameOf = ({ entityId, displayName }: Member): string => (entityId === me.entityId ? 'you' : displayName);
  if (members.length > 0 && members.length <= 3) return `${list(members.map(nameOf))} may answer`;
  if (roles.length > 0) return `${list(roles.map((role) => `every ${role}`))} may answer`;
  return members.length > 3 ? `${members.length} people may answer` : 'another person may answer';
}

function list(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
