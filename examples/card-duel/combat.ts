// What the plugin adds to the table: embers on beasts, damage, drowsiness; and its rules, as pure functions.
import { type Slice, slice } from '@lastcall/core';
import { type Attack, type CardId, cardName, cardOf, findCard, type PlayerId } from './cards.ts';
import { type Game, otherThan } from './game.ts';
import { type Refusal, zoneOf } from './rules.ts';

export interface Combat {
  readonly damage: Readonly<Record<CardId, number>>;
  /** Which beast each attached ember is on. */
  readonly embers: Readonly<Record<CardId, CardId>>;
  readonly drowsy: readonly CardId[];
  readonly hasAttached: boolean;
  readonly hasAttacked: boolean;
}

export type CombatEvent =
  | { readonly type: 'EmberAttached'; readonly ember: CardId; readonly beast: CardId }
  | { readonly type: 'EmberSpent'; readonly ember: CardId }
  | { readonly type: 'BeastHit'; readonly beast: CardId; readonly damage: number }
  | { readonly type: 'BeastLulled'; readonly beast: CardId }
  | { readonly type: 'BeastWoken'; readonly beast: CardId }
  | { readonly type: 'BeastFell'; readonly beast: CardId };

type EventOf<T extends CombatEvent['type']> = Extract<CombatEvent, { type: T }>;

export const combat: Slice<Combat> = slice<Combat>('combat', {
  initial: { damage: {}, embers: {}, drowsy: [], hasAttached: false, hasAttacked: false },
  on: {
    EmberAttached: (state, { ember, beast }: EventOf<'EmberAttached'>) => ({
      ...state,
      embers: { ...state.embers, [ember]: beast },
      hasAttached: true,
    }),
    EmberSpent: (state, { ember }: EventOf<'EmberSpent'>) => ({ ...state, embers: without(state.embers, [ember]) }),
    BeastHit: (state, { beast, damage }: EventOf<'BeastHit'>) => ({
      ...state,
      damage: { ...state.damage, [beast]: (state.damage[beast] ?? 0) + damage },
      hasAttacked: true,
    }),
    BeastLulled: (state, { beast }: EventOf<'BeastLulled'>) => ({ ...state, drowsy: [...state.drowsy, beast] }),
    BeastWoken: (state, { beast }: EventOf<'BeastWoken'>) => ({ ...state, drowsy: awake(state, [beast]) }),
    BeastFell: (state, { beast }: EventOf<'BeastFell'>) => ({
      ...state,
      damage: without(state.damage, [beast]),
      embers: without(state.embers, embersOn(state, beast)),
      drowsy: awake(state, [beast]),
    }),
    // This is the core's event: the beasts of the player whose turn it was wake by themselves.
    TurnEnded: (state, { player }: { type: 'TurnEnded'; player: PlayerId }) => ({
      ...state,
      drowsy: state.drowsy.filter((beast) => !beast.startsWith(`${player}-`)),
      hasAttached: false,
      hasAttacked: false,
    }),
  },
});

export function embersOn({ embers }: Combat, beast: CardId): readonly CardId[] {
  return Object.keys(embers).filter((ember) => embers[ember] === beast);
}

export function lifeLeft({ damage }: Combat, beast: CardId): number {
  const card = cardOf(beast);
  return card.kind === 'beast' ? card.life - (damage[beast] ?? 0) : 0;
}

export function attacksOf(beast: CardId): readonly Attack[] {
  const card = findCard(beast);
  return card?.kind === 'beast' ? card.attacks : [];
}

/** Both slices, which the rules of the plugin read. */
interface Table {
  readonly game: Game;
  readonly combat: Combat;
}

export function noEmber(
  { game, combat: state }: Table,
  player: PlayerId,
  { ember, beast }: { ember: CardId; beast: CardId },
): Refusal {
  if (state.hasAttacked) return 'You have attacked: nothing is attached after that.';
  if (state.hasAttached) return 'You have attached an ember this turn.';
  if (findCard(ember)?.kind !== 'ember') return `"${ember}" is no ember.`;
  if (zoneOf(game, player, ember) !== 'hand') return `${cardName(ember)} is not in your hand.`;
  const { active, bench } = game.zones[player];
  return active.includes(beast) || bench.includes(beast) ? undefined : `"${beast}" is no beast of yours in play.`;
}

export function noAttack({ game, combat: state }: Table, player: PlayerId, name: string): Refusal {
  const [attacker] = game.zones[player].active;
  if (state.hasAttacked) return 'You have attacked this turn.';
  if (attacker === undefined) return 'You have no active beast.';
  if (game.zones[otherThan(player)].active.length === 0) return 'There is nothing to attack.';
  const attack = attacksOf(attacker).find((one) => one.name === name);
  if (attack === undefined) return `${cardName(attacker)} knows ${listed(attacker)}, not "${name}".`;
  if (state.drowsy.includes(attacker)) return `${cardName(attacker)} is drowsy.`;
  const has = embersOn(state, attacker).length;
  return has >= attack.cost ? undefined : `${name} costs ${attack.cost} embers, and ${cardName(attacker)} has ${has}.`;
}

export function noWaking(state: Combat, beast: CardId): Refusal {
  if (!state.drowsy.includes(beast)) return `"${beast}" is not drowsy.`;
  return embersOn(state, beast).length === 0 ? `${cardName(beast)} has no ember to spend on waking.` : undefined;
}

function listed(beast: CardId): string {
  return attacksOf(beast)
    .map(({ name }) => name)
    .join(' and ');
}

function awake({ drowsy }: Combat, woken: readonly CardId[]): readonly CardId[] {
  return drowsy.filter((beast) => !woken.includes(beast));
}

function without<V>(record: Readonly<Record<CardId, V>>, keys: readonly CardId[]): Readonly<Record<CardId, V>> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}
