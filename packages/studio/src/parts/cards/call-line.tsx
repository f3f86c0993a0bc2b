import { type CardProps, withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useId, useState } from 'react';
import { callById } from '../../data/calls.ts';
import { Attachments } from '../files/attachments.tsx';
import { imagesIn } from '../files/images-in.ts';
import { JsonText } from '../text/safe-text.tsx';
import { OUTCOMES, OutcomeMark } from '../ui/outcome.tsx';
import { inWords, writtenSoFar } from './call-shape.ts';
import { RunLink } from './card-frame.tsx';
import { Progress } from './progress.tsx';
import { useSettleClass } from './settle-class.ts';
import { statusOf } from './status-of.ts';

/** A call that needs no answer: one line, and all of it when it is opened. */
export function CallLine({ call, state }: CardProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const name = withVisibleControls(call.toolName);
  const status = statusOf({ call, state });
  const panel = useId();
  const settle = useSettleClass(status);
  return (
    <section
      aria-label={`${name}, ${OUTCOMES[status].word}`}
      data-card={call.callId}
      data-status={state.status}
      className={`relative w-full rounded-card border border-line bg-surface ${settle}`}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-9 w-full flex-wrap items-center gap-x-2 rounded-card px-4 py-2 pr-16 text-left pointer-coarse:min-h-11"
      >
        <OutcomeMark name={status} />
        <span className="font-mono text-xs font-medium">
          <bdi>{name}</bdi>
        </span>
        <span className="min-w-0 flex-1 basis-40 truncate text-sm text-quiet">
          {withVisibleControls(inWords(call.input ?? writtenSoFar(call.inputText)))}
        </span>
        <Gist call={call} state={state} />
      </button>
      <span className="absolute top-2 right-4">
        <RunLink runId={call.runId} callId={call.callId} />
      </span>
      <Attachments files={imagesIn(call.output)} className="px-4 pb-3" />
      <div id={panel} hidden={!isOpen} className="flex flex-col gap-2 border-t border-line p-4 text-sm">
        {isOpen && <WholeCall call={call} isError={state.status === 'error'} />}
      </div>
    </section>
  );
}

function WholeCall({ call, isError }: { call: CardProps['call']; isError: boolean }): ReactElement {
  return (
    <>
      <p className="text-quiet">Input</p>
      <JsonText value={call.input ?? call.inputText} label="Input" />
      {call.output !== undefined && (
        <>
          <p className="text-quiet">{isError ? 'What the model reads' : 'Output'}</p>
          <JsonText value={call.output} label="Output" />
        </>
      )}
    </>
  );
}

/**
 * The second line: the progress, the result, or why there is none. It is there from the start, so that the layout does
 * not jump.
 */
function Gist({ call, state }: Pick<CardProps, 'call' | 'state'>): ReactElement | null {
  if (state.status === 'writing' || state.status === 'running')
    return (
      <span className="basis-full">
        <Progress isMarked value={call.progress ?? (call.input === undefined ? 'being written' : undefined)} />
      </span>
    );
  if (state.status === 'error') return <Failure callId={call.callId} output={call.output} />;
  // Its images are shown below: their addresses tell people nothing.
  const hasImages = imagesIn(call.output).length > 0;
  const words = state.status === 'cancelled' ? state.reason || 'it never ran' : hasImages ? '' : inWords(call.output);
  return <span className="min-w-0 basis-full truncate text-sm">{withVisibleControls(words)}</span>;
}

/** Says what remains of a failed call, if that is known. */
function Failure({ callId, output }: { callId: string; output: unknown }): ReactElement {
  const { data } = useQuery(callById(callId));
  const outcome = data?.outcome?.status === 'error' ? data.outcome : undefined;
  const remains =
    outcome === undefined
      ? undefined
      : outcome.effect === 'possible'
        ? 'it is not known what it did'
        : 'no changes remain';
  return (
    <span className="min-w-0 basis-full text-sm">
      <span className="text-bad">{withVisibleControls(inWords(outcome?.message ?? output))}</span>
      {remains !== undefined && <span className="text-quiet"> · {remains}</span>}
    </span>
  );
}
