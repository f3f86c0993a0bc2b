import type { Answer, Run } from '@lastcall/client';
import { useShownInput, withVisibleControls } from '@lastcall/client/react';
import type { CallRow, TimelineRow } from '@lastcall/client/timeline';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactElement, useMemo, useState } from 'react';
import { answerInFork } from '../../data/forks.ts';
import { ClosedNote, WholeInput } from '../cards/whole-input.tsx';
import { useMay } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { TextField } from '../ui/field.tsx';
import { toResult } from './fork-words.ts';

interface ForkWaitsProps {
  readonly run: Run;
  readonly rows: readonly TimelineRow[];
  /** Called with the run that continues. Default: its page is opened. */
  readonly onAnswered?: ((runId: string) => void) | undefined;
  /** True inside of other content, false for a bar of the page. */
  readonly isFramed?: boolean;
}

/** The calls of a fork or a draft that wait, because they may act outside. */
export function ForkWaits({ run, rows, onAnswered, isFramed = false }: ForkWaitsProps): ReactElement | null {
  const mayWrite = useMay('write');
  const waiting = rows.filter((row): row is CallRow => row.kind === 'call' && row.outcome === 'waiting');
  if ((run.fork ?? run.draft) === undefined || waiting.length === 0 || !mayWrite) return null;
  return (
    <ul
      aria-label="Calls that wait for you"
      className={`flex flex-col gap-2 bg-surface ${isFramed ? 'rounded-card' : 'max-h-[40dvh] shrink-0 overflow-y-auto border-b border-line px-4 py-2'}`}
    >
      {waiting.map((call) => (
        <WaitingCall key={call.callId} run={run} call={call} onAnswered={onAnswered} />
      ))}
    </ul>
  );
}

interface WaitingCallProps extends Pick<ForkWaitsProps, 'run' | 'onAnswered'> {
  readonly call: CallRow;
}

function WaitingCall({ run, call: { callId, toolName, asked }, onAnswered }: WaitingCallProps): ReactElement {
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const input = useMemo(() => parsed(asked), [asked]);
  const shown = useShownInput({ input, kind: 'approval' });
  const send = async (answer: Answer): Promise<void> => {
    setSending(true);
    try {
      const id = await answerInFork(run.id, callId, answer);
      if (onAnswered === undefined) await navigate({ to: '/runs/$id', params: { id }, search: {} });
      else onAnswered(id);
    } catch (failure) {
      setError(failure);
      setSending(false);
    }
  };
  const onSubmit = (name: string, toAnswer: (text: string) => Answer) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get(name) ?? '').trim();
    if (text !== '') void send(toAnswer(text));
  };
  const name = withVisibleControls(toolName);
  return (
    <li className="flex flex-col gap-2 rounded-card border border-line p-3 text-sm">
      <p>
        <bdi className="font-medium">{name}</bdi> waits:{' '}
        {run.draft === undefined
          ? 'the original has no outcome of such a call, and it may act outside.'
          : 'it may act outside, and this is a draft.'}
      </p>
      <WholeInput shown={shown} />
      <ClosedNote shown={shown} word="Run for real" />
      <div className="grid gap-3 min-[40rem]:grid-cols-3">
        <form onSubmit={onSubmit('result', (text) => ({ result: toResult(text) }))} className="flex flex-col gap-2">
          <TextField name="result" label="Give it a result" hint="A text, or JSON. Nothing runs." />
          <Button type="submit" kind="primary" className="mt-auto" disabled={isSending}>
            Give the result
          </Button>
        </form>
        <form onSubmit={onSubmit('reason', (deny) => ({ deny }))} className="flex flex-col gap-2">
          <TextField name="reason" label="Deny it" hint="The agent reads the reason." />
          <Button type="submit" className="mt-auto" disabled={isSending}>
            Deny
          </Button>
        </form>
        <form
          onSubmit={onSubmit('name', (runForReal) => ({ approve: true, runForReal }))}
          className="flex flex-col gap-2"
        >
          <TextField
            name="name"
            label="Run it for real"
            autoComplete="off"
            hint={`Type ${name} to confirm that it acts outside.`}
          />
          <Button
            type="submit"
            kind="danger"
            className="mt-auto"
            disabled={isSending || shown.closed > 0}
            aria-describedby={shown.closed === 0 ? undefined : shown.reasonId}
          >
            Run for real
          </Button>
        </form>
      </div>
      {error !== undefined && <ErrorNote error={error} title="The call was not answered." />}
    </li>
  );
}

/** The input as the model wrote it, which may be no JSON. */
function parsed(asked: string | undefined): unknown {
  try {
    return JSON.parse(asked ?? '{}');
  } catch {
    return asked;
  }
}
