import type { ForkChanges, Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow } from '@lastcall/client/timeline';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GitFork } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { forksOf, startFork } from '../../data/forks.ts';
import { inputInWords } from '../../parts/run/call-words.ts';
import { toResult } from '../../parts/run/fork-words.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { SelectField, TextArea, TextField } from '../../parts/ui/field.tsx';

interface ForkProps {
  readonly run: Run;
  /** The step that is done again. */
  readonly step: number;
  /** The node of the machine that was asked in this step. */
  readonly node: string | undefined;
  /** The calls of the run, whose outcomes can be changed. */
  readonly calls: readonly CallRow[];
}

/** Continues the run from a step, with changes, in a new conversation. */
export function ForkButton(props: ForkProps): ReactElement | null {
  const mayWrite = useMay('write');
  const [isOpen, setOpen] = useState(false);
  if (!mayWrite) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <GitFork size={16} aria-hidden /> From here …
      </Button>
      {isOpen && (
        <Dialog title={`Fork at step ${props.step}`} onClose={() => setOpen(false)}>
          <ForkForm {...props} />
        </Dialog>
      )}
    </>
  );
}

function ForkForm({ run, step, node, calls }: ForkProps): ReactElement {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const send = async (changes: ForkChanges): Promise<void> => {
    setSending(true);
    try {
      const id = await startFork(run.id, step, changes);
      await queries.invalidateQueries({ queryKey: forksOf(run.id).queryKey });
      await navigate({ to: '/runs/$id', params: { id }, search: {} });
    } catch (failure) {
      setError(failure);
      setSending(false);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void send(changesIn(new FormData(event.currentTarget), node));
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <p className="text-sm text-quiet">
        The model is asked for step {step} again. Calls that this run made get the recorded outcome. Calls with effects
        outside wait for you, and nothing is posted in spaces.
      </p>
      <TextArea name="message" label="Add a message" isOptional rows={2} />
      <TextArea name="instructions" label="Other instructions" isOptional rows={2} />
      <TextField name="model" label="Other model" isOptional placeholder={run.model} />
      {node !== undefined && (
        <SelectField name="of" label="Instructions and model of" defaultValue="node">
          <option value="node">{`the node ${withVisibleControls(node)}`}</option>
          <option value="agent">the agent, for all nodes</option>
        </SelectField>
      )}
      {calls.length > 0 && (
        <>
          <SelectField name="call" label="Other outcome of a call" isOptional defaultValue="">
            <option value="">none</option>
            {calls.map((call) => (
              <option key={call.callId} value={call.callId}>
                {`${call.step === undefined ? '' : `step ${call.step}: `}${call.toolName} ${inputInWords(call.asked)}`.slice(
                  0,
                  100,
                )}
              </option>
            ))}
          </SelectField>
          <TextArea name="result" label="Its result" isOptional rows={2} hint="A text, or JSON." />
        </>
      )}
      {error !== undefined && <ErrorNote error={error} title="The run was not forked." />}
      <Button type="submit" kind="primary" className="self-end" disabled={isSending}>
        {isSending ? 'Forking …' : 'Fork'}
      </Button>
    </form>
  );
}

function changesIn(form: FormData, node: string | undefined): ForkChanges {
  const text = (name: string): string => String(form.get(name) ?? '').trim();
  const [message, instructions, model, callId] = ['message', 'instructions', 'model', 'call'].map(text);
  const asked = { ...(instructions ? { instructions } : {}), ...(model ? { model } : {}) };
  const isOfNode = node !== undefined && text('of') === 'node' && Object.keys(asked).length > 0;
  return {
    ...(message ? { message } : {}),
    ...(isOfNode ? { nodes: { [node]: asked } } : asked),
    ...(callId ? { outcomes: { [callId]: { result: toResult(text('result')) } } } : {}),
  };
}
