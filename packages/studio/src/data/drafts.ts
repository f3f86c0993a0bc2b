import { type DraftChanges, everyItem, type ForkChanges, type Story } from '@lastcall/client';
import type { WrittenRun } from '@lastcall/client/timeline';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** A turn of a conversation: what was asked, and all runs that answered it. */
export interface DraftTurn {
  readonly story: Story;
  readonly parts: readonly WrittenRun[];
}

/** What is sent to a draft: a message, after a run of its conversation, or the message of a run again. */
export type SentToDraft =
  | { readonly message: string; readonly after?: string | undefined }
  | { readonly again: string };

/** What is different in nodes of a machine, by their names. */
export type ChangedNodes = NonNullable<ForkChanges['nodes']>;

/** What is tried: fields of the configuration, and nodes of a machine. */
export interface Tried {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly nodes: ChangedNodes;
}

/** Returns the id of the run that answers. */
export async function sendToDraft(agentId: string, { changes, nodes }: Tried, sent: SentToDraft): Promise<string> {
  const ofNodes = Object.keys(nodes).length === 0 ? {} : { nodes };
  return (await client.agents.draft(agentId, { changes: changes as DraftChanges, ...ofNodes, ...sent })).runId;
}

/** Longer conversations with a draft show their newest turns. */
const MOST_TURNS = 30;

/** The runs before this one in its conversation with a draft, oldest first. Each names its turn. */
export const turnsBefore = (runId: string) =>
  queryOptions({
    queryKey: ['drafts', runId, 'before'],
    queryFn: async ({ signal }): Promise<readonly string[]> => {
      const before: string[] = [];
      for (let id: string | undefined = runId; id !== undefined && before.length < MOST_TURNS; ) {
        const { draft }: { draft?: { after?: string | undefined } | undefined } = await client.runs.get(id, { signal });
        id = draft?.after;
        if (id !== undefined) before.unshift(id);
      }
      return before;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** A turn as it is stored. It is read again while it goes on. */
export const turnOf = (runId: string) =>
  queryOptions({
    queryKey: ['drafts', runId, 'turn'],
    queryFn: async ({ signal }): Promise<DraftTurn> => {
      const story = await client.runs.story(runId, { signal });
      const parts = await Promise.all(
        story.runs.map(async (run) => ({
          run,
          entries: await everyItem((page) => client.runs.transcript(run.id, page, { signal })),
        })),
      );
      return { story, parts };
    },
    refetchInterval: ({ state }) => (state.data?.story.endedAt === undefined ? TURN_MS : false),
  });

const TURN_MS = 1_500;
