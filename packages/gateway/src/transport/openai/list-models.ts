import type { Kysely } from 'kysely';
import { z } from 'zod';
import { listActiveAgents } from '../../domain/agents/list-active-agents.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { type TurnCaller, viewOfCaller } from '../../runtime/chat/turn-request.ts';

export const modelSchema: z.ZodType = z
  .strictObject({
    id: z.string().meta({ description: "The agent's name, or its id if several agents have the same name." }),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
  })
  .meta({ id: 'OpenAiModel' });

export interface Model {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
}

/** The agents that the caller may talk to: with a key all that it can see, with a token those that share a space with its entity. */
export async function listModels(db: Kysely<Tables>, caller: TurnCaller): Promise<readonly Model[]> {
  const sharingWith = caller.kind === 'entity' ? caller.entityId : undefined;
  const rows = await listActiveAgents(db, { sharingWith, orderBy: 'name', view: viewOfCaller(caller) });
  const ofName = Map.groupBy(rows, ({ name }) => name);
  return rows.map(({ id, name, created_at }) => ({
    id: ofName.get(name)?.length === 1 ? name : id,
    object: 'model',
    created: toSeconds(created_at),
    owned_by: 'lastcall',
  }));
}

export function toSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
