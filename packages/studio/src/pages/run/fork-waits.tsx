import type { Answer, Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow, TimelineRow } from '@lastcall/client/timeline';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactElement, useState } from 'react';
import { answerInFork } from '../../data/forks.ts';
import { toResult } from '../../parts/run/fork-words.ts';
import { useMay } from '../../parts/session/session.tsx';
import { JsonText } from '../../parts/text/safe-text.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextField } from '../../parts/ui/field.tsx';

/** The calls of a fork that wait, because the original did not make them and they may act outside. */
export function ForkWaits({ run, rows }: { run: Run; rows: readonly TimelineRow[] }): ReactElement | null {
  const mayWrite = useMay('write');
  const waiting = rows.filter((row): row is CallRow => row.kind === 'call' && row.outcome === 'waiting');
  if (run.fork === undefined || waiting.length === 0 || !mayWrite) return null;
  return (
    <ul
      aria-label="Calls that wait for you"
      className="flex flex-col gap-2 border-b border-line bg-surface px-4 wide:px-6 py-2"
    >
      {waiting.map((call) => (
        <WaitingCall key={call.callId} run={run} call={call} />
      ))}
    </ul>
  );
}

function WaitingCall({ run, call: { callId, toolName, asked } }: { run: Run; call: CallRow }): ReactElement {
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const send = async (answer: Answer): Promise<void> => {
    setSending(true);
    try {
      const id = await answerInFork(run.id, callId, answer);
      await navigate({ to: '/runs/$id', params: { id }, search: {} });
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
        <bdi className="font-medium">{name}</bdi> waits: the original made no such call, and it may act outside.
      </p>
      <JsonText value={asked} label={`Input of ${name}`} />
      <div className="grid gap-3 wide:grid-cols-3">
        <form onSubmit={onSubmit('result', (text) => ({ result: toResult(text) }))} className="flex flex-col gap-2">
          <TextField name="result" label="Give it a result" hint="A text, or JSON. Nothing runs." />
          <Button type="submit" kind="primary" disabled={isSending}>
            Give the result
          </Button>
        </form>
        <form onSubmit={onSubmit('reason', (deny) => ({ deny }))} className="flex flex-col gap-2">
          <TextField name="reason" label="Deny it" hint="The agent reads the reason." />
          <Button type="submit" disabled={isSending}>
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
          <Button type="submit" kind="danger" disabled={isSending}>
            Run for real
          </Button>
        </form>
      </div>
      {error !== undefined && <ErrorNote error={error} title="The call was not answered." />}
    </li>
  );
}
