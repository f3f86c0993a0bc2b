// Runs a game phase by phase. Each phase is a turn of an agent in its mode, printed move by move.
import {
  type Answer,
  type NewId,
  type Outcome,
  type Session,
  streamTurn,
  type TurnEvent,
  type TurnOptions,
  type TurnResult,
} from '@lastcall/core';
import type { PlayerId } from './cards.ts';
import { type GameEvent, game, otherThan } from './game.ts';
import { modesOf } from './modes.ts';
import type { Mode } from './plugin-beasts.ts';
import { describeTable } from './table-view.ts';

export interface Duel {
  readonly session: Session;
  readonly models: Readonly<Record<PlayerId, TurnOptions['model']>>;
  readonly print: (line: string) => void;
  readonly seed: number;
  readonly newId?: NewId;
}

const NAMES: Readonly<Record<PlayerId, string>> = { ada: 'Ada', bo: 'Bo' };
const MODE_OF = { setup: 'setup', start: 'start_of_turn', main: 'main' } as const;
const MOST_TURNS = 40;

/** Plays to the end. There is no winner if the game takes too long. */
export async function playDuel(duel: Duel): Promise<PlayerId | null> {
  const { session, print } = duel;
  const table: Table = { ...duel, modes: { ada: modesOf('ada'), bo: modesOf('bo') } };
  tell(session, { type: 'GameStarted', seed: duel.seed });
  for (;;) {
    const { winner, turn, player, phase } = session.read(game);
    if (winner !== null || turn > MOST_TURNS) {
      print(
        winner === null
          ? `\nThere is no winner after ${MOST_TURNS} turns.`
          : `\n${NAMES[winner]} wins in turn ${turn}.`,
      );
      return winner;
    }
    print(`\n${turn === 0 ? 'Setup' : `Turn ${turn}`} · ${NAMES[player]} · ${MODE_OF[phase]}`);
    await playPhase(table, player, MODE_OF[phase]);
  }
}

interface Table extends Duel {
  readonly modes: Readonly<Record<PlayerId, ReturnType<typeof modesOf>>>;
}

/** Plays one phase of one player. If the other player has to decide something, the turn waits for that decision. */
async function playPhase(table: Table, player: PlayerId, mode: Mode): Promise<void> {
  let result = await runPlayer(table, player, { mode, prompt: `You are ${NAMES[player]}. It is your move.` });
  while (result.stop.reason === 'suspended') {
    const [asked] = result.pending;
    if (asked === undefined) break;
    const answer = await askOther(table, otherThan(player));
    if (table.session.read(game).winner !== null) return;
    table.print(`· ${NAMES[player]} goes on`);
    const { transcript } = result;
    result = await runPlayer(table, player, { mode, transcript, answers: { [asked.callId]: answer } });
  }
  if (!isEnded(result)) forfeit(table, player, result);
}

async function askOther(table: Table, player: PlayerId): Promise<Answer> {
  table.print(`· ${NAMES[player]} decides`);
  const prompt = `You are ${NAMES[player]}. You are asked to decide.`;
  const result = await runPlayer(table, player, { mode: 'decision', prompt });
  if (!isEnded(result)) forfeit(table, player, result);
  return { result: result.response };
}

async function runPlayer(
  { session, models, modes, print, newId }: Table,
  player: PlayerId,
  { mode, ...more }: Pick<TurnOptions, 'prompt' | 'transcript' | 'answers'> & { mode: Mode },
): Promise<TurnResult> {
  const stream = streamTurn({
    ...modes[player][mode],
    model: models[player],
    session,
    batch: { onError: 'cancel-rest' },
    observe: () => describeTable(session, player),
    maxSteps: 25,
    ...(newId === undefined ? {} : { newId }),
    ...more,
  });
  for await (const event of stream) for (const line of linesOf(event)) print(line);
  return await stream.result;
}

function isEnded({ stop }: TurnResult): boolean {
  return stop.reason === 'end_turn' && stop.by === 'terminal';
}

/** Scripted players never stop half-way; a model may. */
function forfeit({ session, print }: Duel, player: PlayerId, { stop }: TurnResult): void {
  print(`${NAMES[player]} stops without an end (${stop.reason}) and forfeits the game.`);
  tell(session, { type: 'GameWon', player: otherThan(player) });
}

function linesOf(event: TurnEvent): readonly string[] {
  switch (event.type) {
    case 'tool-call.complete':
    case 'tool-call.error':
    case 'tool-call.cancelled':
    case 'tool-call.skipped':
    case 'tool-call.pending':
      return [
        `  ${event.toolName} ${JSON.stringify(event.input)}`,
        `    ${markOf(event.outcome)} ${firstLine(event.outcome.text)}`,
      ];
    case 'rewind':
      return [`  ↶ ${event.reason} ${event.guidance}`];
    default:
      return [];
  }
}

function markOf(outcome: Outcome): string {
  if (outcome.status === 'ok') return '✓';
  return outcome.status === 'error' ? `✗ ${outcome.code}:` : '–';
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function tell(session: Session, event: GameEvent): void {
  session.dispatch(event);
}
