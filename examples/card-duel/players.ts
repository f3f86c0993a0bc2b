// Two players without a model: they look at the table and reply as a model would. The same table gives the same reply.
import type { Session } from '@lastcall/core';
import { type ScriptedCall, type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { type Attack, type CardId, cardOf, isBeast, type PlayerId } from './cards.ts';
import { attacksOf, type Combat, combat, embersOn, lifeLeft } from './combat.ts';
import { BENCH_SIZE, type Game, game, otherThan, POINTS_TO_WIN, toMove, type Zones } from './game.ts';

/** What a player looks at. */
export interface View {
  readonly game: Game;
  readonly combat: Combat;
}

/** Says what the player who is to move does next. */
export type Player = (view: View) => readonly ScriptedCall[];

/** The table, seen from the side of the player who is to move. */
interface Table extends View {
  readonly player: PlayerId;
  readonly mine: Zones;
  readonly theirs: Zones;
}

function toPlayer(style: (table: Table) => readonly ScriptedCall[]): Player {
  return (view) => {
    const { decision, zones } = view.game;
    const player = toMove(view.game);
    const table = { ...view, player, mine: zones[player], theirs: zones[otherThan(player)] };
    return decision === null ? style(table) : decide(table, decision.cards);
  };
}

/** The player as a model of a turn with this session. */
export function modelOf(player: Player, session: Session): ScriptedModel {
  return scriptedModel(() => player({ game: session.read(game), combat: session.read(combat) }));
}

/** Looks first, moves one thing at a time, and rewinds a bad turn, but only once. */
export function carefulPlayer(): Player {
  let hasLearned = false;
  let looked = -1;
  return toPlayer((table) => {
    if (table.game.phase === 'setup') return setUp(table);
    if (table.game.phase === 'start') return table.game.hasDrawn ? [call('end_phase')] : beginTurn(table);
    if (looked < table.game.turn && !table.combat.hasAttached) {
      looked = table.game.turn;
      return [search('mine', 'hand'), search('theirs', 'bench'), call('peek', { count: 1 })];
    }
    const benched = benchMoves(table);
    if (benched.length > 0) return benched;
    const favourite = hasLearned ? table.mine.active[0] : (table.mine.bench[0] ?? table.mine.active[0]);
    const attached = attachTo(table, favourite);
    if (attached.length > 0) return attached;
    if (!hasLearned && wasted(table)) {
      hasLearned = true;
      return [
        rewind('The ember went to the bench, and the active beast cannot attack.', 'Feed the active beast first.'),
      ];
    }
    return attackOrEnd(table);
  });
}

/** Makes all calls at once, and finds out which of them were allowed. */
export function hastyPlayer(): Player {
  let rushed = -1;
  return toPlayer((table) => {
    const { phase, turn } = table.game;
    if (phase === 'start') return [...beginTurn(table), call('end_phase')];
    if (rushed === turn) return phase === 'setup' ? setUp(table) : attackOrEnd(table);
    rushed = turn;
    if (phase === 'setup') return [call('end_phase')];
    const best = attacksOf(table.mine.active[0] ?? '').at(-1);
    const attack = best === undefined ? [] : [call('declare_attack', { attack: best.name })];
    return [...benchMoves(table), ...attachTo(table, table.mine.active[0]), ...attack, call('end_turn')];
  });
}

function setUp({ player, game: { mulligans }, mine }: Table): readonly ScriptedCall[] {
  if (mine.active.length > 0) return [call('end_phase')];
  const beasts = mine.hand.filter(isBeast).sort((one, other) => costOf(one) - costOf(other));
  if (beasts.length < 2 && !mulligans.includes(player)) return [call('mulligan')];
  const [first, ...rest] = beasts;
  if (first === undefined) return [call('concede')];
  return [moveTo(first, 'active'), ...rest.slice(0, BENCH_SIZE).map((card) => moveTo(card, 'bench'))];
}

function beginTurn({ combat: state, mine }: Table): readonly ScriptedCall[] {
  const [active = ''] = mine.active;
  const wakes = state.drowsy.includes(active) && embersOn(state, active).length > 1;
  const draws = mine.deck.length > 0 ? [call('draw')] : [];
  return wakes ? [...draws, call('set_status', { beast: active, status: 'awake' })] : draws;
}

function benchMoves({ mine, combat: { hasAttacked } }: Table): readonly ScriptedCall[] {
  if (hasAttacked) return [];
  const room = BENCH_SIZE - mine.bench.length;
  return mine.hand
    .filter(isBeast)
    .slice(0, room)
    .map((card) => moveTo(card, 'bench'));
}

function attachTo({ combat: { hasAttached, hasAttacked }, mine }: Table, beast: CardId | undefined) {
  const ember = mine.hand.find((card) => cardOf(card).kind === 'ember');
  if (hasAttached || hasAttacked || ember === undefined || beast === undefined) return [];
  return [call('attach_energy', { ember, beast })];
}

/** Whether this turn's ember would have made an attack possible, had it gone to the active beast. */
function wasted({ combat: state, mine }: Table): boolean {
  const [active = ''] = mine.active;
  const has = embersOn(state, active).length;
  return state.hasAttached && attacksOf(active).some(({ cost }) => cost === has + 1);
}

function attackOrEnd(table: Table): readonly ScriptedCall[] {
  const { player, combat: state, theirs } = table;
  if (table.game.points[player] >= POINTS_TO_WIN || theirs.active.length + theirs.bench.length === 0)
    return [call('declare_victory')];
  if (theirs.active.length === 0) {
    return [call('create_decision', { question: 'Which beast comes next?', cards: theirs.bench })];
  }
  const attack = state.hasAttacked ? undefined : bestAttack(table);
  return attack === undefined ? [call('end_turn')] : [call('declare_attack', { attack: attack.name })];
}

function bestAttack({ combat: state, mine }: Table): Attack | undefined {
  const [active = ''] = mine.active;
  if (state.drowsy.includes(active)) return undefined;
  return attacksOf(active).findLast(({ cost }) => cost <= embersOn(state, active).length);
}

/** The beast with the most embers, then the most life. */
function decide({ combat: state }: Table, cards: readonly CardId[]): readonly ScriptedCall[] {
  const worth = (card: CardId): number => embersOn(state, card).length * 1_000 + lifeLeft(state, card);
  const [card] = [...cards].sort((one, other) => worth(other) - worth(one));
  return [search('mine', 'bench'), call('resolve_decision', { card })];
}

/** How soon a beast can attack. */
function costOf(beast: CardId): number {
  return attacksOf(beast)[0]?.cost ?? 0;
}

function call(toolName: string, input: object = {}): ScriptedCall {
  return { toolName, input };
}

function moveTo(card: CardId, to: 'active' | 'bench'): ScriptedCall {
  return call('move_card', { card, to });
}

function search(owner: 'mine' | 'theirs', zone: keyof Zones): ScriptedCall {
  return call('search_zone', { owner, zone });
}

function rewind(reason: string, guidance: string): ScriptedCall {
  return call('rewind', { reason, guidance });
}
