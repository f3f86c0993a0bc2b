import { toStory } from '@lastcall/client/timeline';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { type ReactElement, useMemo } from 'react';
import type { DraftTurn } from '../../../data/drafts.ts';
import { statusInWords } from '../../../parts/run/stop-sentence.ts';
import type { RunState } from '../../../parts/run/timeline/run-state.ts';
import { TimelineView } from '../../../parts/run/timeline/timeline-view.tsx';
import { useNow } from '../../../parts/ui/time.tsx';
import type { LiveTurn } from './live-turn.ts';

/** What the draft does in the newest turn, as it happens. */
export function DraftTimeline({ live }: { live: LiveTurn | undefined }): ReactElement {
  if (live?.turn === undefined)
    return <p className="p-4 text-sm text-quiet">Its steps and calls appear here while it works.</p>;
  return <Shown runId={live.runId} turn={live.turn} />;
}

function Shown({ runId, turn }: { runId: string; turn: DraftTurn }): ReactElement {
  const { story, parts } = turn;
  const { rows } = useMemo(() => toStory(parts, story.waits), [parts, story.waits]);
  const state = useStateOfRunPage(runId);
  const tick = useNow(story.endedAt === undefined ? 1_000 : 60_000);
  return (
    <>
      <p className="flex items-center justify-between gap-4 border-b border-line bg-surface px-4 py-1 text-xs text-quiet">
        <span>A row opens the page of the run.</span>
        <Link to="/runs/$id" params={{ id: runId }} search={{}} className="link">
          Open the run
        </Link>
      </p>
      <TimelineView
        state={state}
        story={story}
        all={rows}
        rows={rows}
        stopped={(run) => statusInWords(run).text}
        now={story.endedAt ?? tick}
      />
    </>
  );
}

/** Calls and steps are opened on the page of their run. */
function useStateOfRunPage(id: string): RunState {
  const navigate = useNavigate();
  const router = useRouter();
  return useMemo(
    () => ({
      id,
      search: {},
      set: ({ call }, { runId = id } = {}) =>
        void navigate({ to: '/runs/$id', params: { id: runId }, search: call === undefined ? {} : { call } }),
      hrefOf: ({ call }) =>
        router.buildLocation({ to: '/runs/$id', params: { id }, search: call === undefined ? {} : { call } }).href,
    }),
    [id, navigate, router],
  );
}
