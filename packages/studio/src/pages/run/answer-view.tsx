import type { Run, Story } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow, TimelineRow } from '@lastcall/client/timeline';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { inputInWords } from '../../parts/run/call-words.ts';
import { Markdown } from '../../parts/text/markdown.tsx';
import { OutcomeMark } from '../../parts/ui/outcome.tsx';
import { CopyButton } from './copy-button.tsx';

interface TaskAnswer {
  readonly text: string;
  readonly run: Run;
}

/** What the task gave: the response of its last run that has one. */
export function answerOf({ runs }: Story): TaskAnswer | undefined {
  const run = runs.findLast(({ response = '' }) => response.trim() !== '');
  return run?.response === undefined ? undefined : { text: run.response, run };
}

/** The answer as a document, and the calls that it rests on. */
export function AnswerView({ answer, rows }: { answer: TaskAnswer; rows: readonly TimelineRow[] }): ReactElement {
  const evidence = rows.filter((row): row is CallRow => row.kind === 'call' && row.outcome === 'ok' && !row.isResponse);
  return (
    <section aria-label="The answer" className="min-h-24 flex-1 overflow-y-auto bg-surface p-4">
      <div className="mx-auto flex max-w-[44rem] flex-col gap-6">
        <p className="flex flex-wrap gap-2">
          <CopyButton text={answer.text} label="Copy the answer" />
          <CopyButton text={`${location.origin}/runs/${answer.run.id}?view=answer`} label="Copy a link to it" />
        </p>
        <article className="text-base leading-7">
          <Markdown text={answer.text} />
        </article>
        <Evidence calls={evidence} />
      </div>
    </section>
  );
}

function Evidence({ calls }: { calls: readonly CallRow[] }): ReactElement {
  if (calls.length === 0) return <p className="text-quiet">It rests on no call: the model answered by itself.</p>;
  return (
    <section aria-label="What it rests on" className="flex flex-col gap-1 border-t border-line pt-4">
      <h2 className="text-xl font-semibold">What it rests on</h2>
      <ul className="flex flex-col">
        {calls.map((call) => (
          <li key={call.key}>
            <Link
              to="/runs/$id"
              params={{ id: call.runId }}
              search={{ call: call.callId }}
              className="flex min-h-7 items-center gap-2 text-sm hover:bg-raised"
            >
              <OutcomeMark name={call.outcome} />
              <bdi className="shrink-0 font-medium">{withVisibleControls(call.toolName)}</bdi>
              <span dir="auto" className="min-w-0 truncate text-quiet">
                {withVisibleControls(inputInWords(call.asked))}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
