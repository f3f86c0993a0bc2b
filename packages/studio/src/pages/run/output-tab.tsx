import type { Outcome } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow, CallStatus } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { callDetails } from '../../data/calls.ts';
import { Attachments } from '../../parts/files/attachments.tsx';
import { imagesIn } from '../../parts/files/images-in.ts';
import { withNumbers } from '../../parts/run/call-words.ts';
import { waitInWords } from '../../parts/run/wait-words.ts';
import { JsonText, SafeText } from '../../parts/text/safe-text.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { OUTCOMES } from '../../parts/ui/outcome.tsx';
import { CopyButton } from './copy-button.tsx';
import { SubAgentNote } from './sub-agent-note.tsx';

/** The result of the call, and the part of it that the model read. */
export function OutputTab({ call, numbers }: { call: CallRow; numbers: ReadonlyMap<string, string> }): ReactElement {
  return (
    <div className="flex flex-col gap-3">
      {call.laterEndAt !== undefined && <Waited call={call} />}
      <End call={call} numbers={numbers} />
      {call.subAgents?.map((turn) => (
        <SubAgentNote key={turn.callId} turn={turn} />
      ))}
    </div>
  );
}

/** Who answered, and when, for a call that waited when the run ended. */
function Waited({ call }: { call: CallRow }): ReactElement {
  const { data } = useQuery(callDetails(call.callId));
  return <p className="text-quiet">{withVisibleControls(`${waitInWords(data)}.`)}</p>;
}

function End({ call, numbers }: { call: CallRow; numbers: ReadonlyMap<string, string> }): ReactElement {
  const outcome = call.settlement?.outcome;
  if (outcome === undefined)
    return <p className="text-quiet">{NOT_YET[call.outcome] ?? 'It never started: the run ended first.'}</p>;
  switch (outcome.status) {
    case 'ok':
      return <OkOutput call={call} outcome={outcome} />;
    case 'error':
      return (
        <div className="flex flex-col gap-3">
          {call.outcome === 'unknown' && <Doubt call={call} />}
          <p>
            <span className={`font-medium ${OUTCOMES[call.outcome].colour}`}>{outcome.code}</span>{' '}
            <SafeText text={outcome.message} />
          </p>
          <ModelRead outcome={outcome} />
        </div>
      );
    case 'pending':
      return <WaitingOutput call={call} />;
    default:
      return (
        <p>
          It never ran: <SafeText text={withNumbers(outcome.reason, numbers)} />
        </p>
      );
  }
}

const NOT_YET: Readonly<Partial<Record<CallStatus, string>>> = {
  running: 'It is running.',
  planned: 'It has not started: a call before it runs alone.',
};

/** The call still waits, or has been answered and has not ended. */
function WaitingOutput({ call }: { call: CallRow }): ReactElement {
  const { data, error } = useQuery(callDetails(call.callId));
  if (error !== null) return <ErrorNote error={error} title="The waiting call could not be loaded." />;
  const words = waitInWords(data);
  return (
    <p className="text-quiet">{withVisibleControls(words.startsWith('for ') ? `It waits ${words}.` : `${words}.`)}</p>
  );
}

function OkOutput({ call, outcome }: { call: CallRow; outcome: Extract<Outcome, { status: 'ok' }> }): ReactElement {
  const { value, text, cut } = outcome;
  const isSameText = value === undefined || value === text || JSON.stringify(value) === text;
  return (
    <div className="flex flex-col gap-3">
      <JsonText value={value ?? text} label="Output" />
      <Attachments files={imagesIn(value ?? text)} />
      {cut !== undefined && <WholeOutput call={call} characters={cut.characters} isKept={cut.kept} />}
      {!isSameText && <ModelRead outcome={outcome} />}
    </div>
  );
}

function ModelRead({ outcome }: { outcome: Outcome }): ReactElement {
  return (
    <section aria-label="What the model read" className="flex flex-col gap-1">
      <h3 className="text-xs font-medium text-quiet">What the model read</h3>
      <JsonText value={outcome.text} label="What the model read" />
    </section>
  );
}

/** It is not known whether the call had its effect. The other service knows, and this key identifies the call there. */
function Doubt({ call: { callId } }: { call: CallRow }): ReactElement {
  return (
    <div className="flex flex-col gap-1 rounded border border-dashed border-doubt p-3">
      <p className="font-medium text-doubt">Unknown outcome</p>
      <p>
        It was started, and its end is not known: its effect may have happened. Check in the other service, by its
        idempotency key:
      </p>
      <p className="flex flex-wrap items-center gap-2">
        <code className="font-mono text-xs">{callId}</code> <CopyButton text={callId} label="Copy the key" />
      </p>
    </div>
  );
}

function WholeOutput({
  call,
  characters,
  isKept,
}: {
  call: CallRow;
  characters: number;
  isKept: boolean;
}): ReactElement {
  const [isWanted, setWanted] = useState(false);
  const { data, error } = useQuery({ ...callDetails(call.callId), enabled: isWanted });
  const length = characters.toLocaleString();
  if (!isKept) return <p className="text-quiet">It had {length} characters, too many to keep.</p>;
  if (error !== null) return <ErrorNote error={error} title="The whole output could not be read." />;
  const whole = data?.outcome?.status === 'ok' ? (data.outcome.value ?? data.outcome.text) : undefined;
  if (whole !== undefined) return <JsonText value={whole} label="The whole output" />;
  return (
    <p className="flex flex-wrap items-center gap-2 text-quiet">
      The model read a part of it. <Button onClick={() => setWanted(true)}>Show all {length} characters</Button>
    </p>
  );
}
