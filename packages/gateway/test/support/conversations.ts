import { createConversation } from '../../src/domain/conversations/conversation.ts';
import type { RunAnswer } from '../../src/domain/conversations/run-answer.ts';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { startTurn } from '../../src/runtime/chat/start-turn.ts';
import type { AcceptedTurn, TurnCaller, TurnInput, TurnRequest } from '../../src/runtime/chat/turn-request.ts';
import type { World } from './world.ts';

const KEY: TurnCaller = { kind: 'key', keyId: 'key' };

export interface Chat {
  readonly contextId: string;
  readonly agentId: string;
  start(input: TurnInput, more?: Partial<TurnRequest>): Promise<AcceptedTurn>;
  /** Starts a turn and waits for its answer. */
  turn(input: TurnInput, settings?: TurnRequest['settings']): Promise<RunAnswer>;
  say(message: string, settings?: TurnRequest['settings']): Promise<RunAnswer>;
}

/** A conversation of a new agent. */
export async function chatWith(world: World, config: object = {}): Promise<Chat> {
  const agentId = await world.agent('Bot', config);
  const { id: contextId } = await world.in((tx) => createConversation(tx, { agentId }));
  const start: Chat['start'] = (input, more) =>
    world.in((tx) => startTurn(tx, world.registry, { caller: KEY, conversation: { contextId }, input, ...more }));
  const turn: Chat['turn'] = async (input, settings) => {
    const { runId } = await start(input, settings === undefined ? {} : { settings });
    return await awaitRun(world.services, runId);
  };
  return { contextId, agentId, start, turn, say: (message, settings) => turn({ message }, settings) };
}
