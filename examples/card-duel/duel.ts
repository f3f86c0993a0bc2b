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
import { NAMES, type PlayerId } from './cards.ts';
import { duel, modeOf } from './definition.ts';
import { type GameEvent, game, otherThan } from './game.ts';
import { modes } from './modes.ts';

export interface Duel {
  readonly session: Session;
  readonly models: Readonly<Record<PlayerId, TurnOptions['model']>>;
  readonly print: (line: string) => void;
  readonly newId?: NewId;
}

const MOST_TURNS = 40;

/** Plays to the end. There is no winner if the game takes too long. */
export async function playDuel(table: Duel): Promise<PlayerId | null> {
  const { session, print } = table;
  for (;;) {
    const state = session.read(game);
    const { winner, turn, player } = state;
    if (winner !== null || turn > MOST_TURNS) {
      print(
        winner === null
          ? `\nThere is no winner after ${MOST_TURNS} turns.`
          : `\n${NAMES[winner]} wins in turn ${turn}.`,
      );
      return winner;
    }
    print(`\n${turn === 0 ? 'Setup' : `Turn ${turn}`} · ${NAMES[player]} · ${modeOf(state)}`);
    await playPhase(table, player);
  }
}

/** Plays one phase of one player. If the other player has to decide something, the turn waits for that decision. */
async function playPhase(table: Duel, player: PlayerId): Promise<void> {
  let result = await runPlayer(table, player, { prompt: `You are ${NAMES[player]}. It is your move.` });
  while (result.stop.reason === 'suspended') {
    const [asked] = result.pending;
    if (asked === undefined) break;
    const answer = await askOther(table, otherThan(player));
    if (table.session.read(game).winner !== null) return;
    table.print(`· ${NAMES[player]} goes on`);
    const { transcript } = result;
    result = await runPlayer(table, player, { transcript, answers: { [asked.callId]: answer } });
  }
  if (!isEnded(result)) forfeit(table, player, result);
}

async function askOther(table: Duel, player: PlayerId): Promise<Answer> {
  table.print(`· ${NAMES[player]} decides`);
  const prompt = `You are ${NAMES[player]}. You are asked to decide.`;
  const result = await runPlayer(table, player, { prompt });
  if (!isEnded(result)) forfeit(table, player, result);
  return { result: result.response };
}

async function runPlayer(
  { session, models, print, newId }: Duel,
  player: PlayerId,
  more: Pick<TurnOptions, 'prompt' | 'transcript' | 'answers'>,
): Promise<TurnResult> {
  const stream = streamTurn({
    ...modes[modeOf(session.read(game))],
    model: models[player],
    session,
    batch: { onError: 'cancel-rest' },
    observe: () => duel.observe(session),
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
