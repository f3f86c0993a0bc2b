import type { ForkChanges, Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow } from '@lastcall/client/timeline';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GitFork } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { forksOf, startFork } from '../../data/forks.ts';
import { forgetKept, useKept } from '../../parts/form/use-kept.ts';
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
  const draft = `fork.${run.id}.${step}`;
  const [typed, keep] = useKept(
    draft,
    () => NOTHING,
    ({ call }) => call === '' || calls.some(({ callId }) => callId === call),
  );
  const field = (name: keyof Typed) => ({
    value: typed[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) => keep({ ...typed, [name]: target.value }),
  });
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const send = async (changes: ForkChanges): Promise<void> => {
    setSending(true);
    try {
      const id = await startFork(run.id, step, changes);
      forgetKept(draft);
      await queries.invalidateQueries({ queryKey: forksOf(run.id).queryKey });
      await navigate({ to: '/runs/$id', params: { id }, search: {} });
    } catch (failure) {
      setError(failure);
      setSending(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void send(changesIn(typed, node));
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <p className="text-sm text-quiet">
        The model is asked for step {step} again. Calls that this run made get the recorded outcome. Calls with effects
        outside wait for you, and nothing is posted in spaces.
      </p>
      <TextArea {...field('message')} label="Add a message" isOptional rows={2} />
      <TextArea {...field('instructions')} label="Other instructions" isOptional rows={2} />
      <TextField {...field('model')} label="Other model" isOptional placeholder={run.model} />
      {node !== undefined && (
        <SelectField {...field('of')} label="Instructions and model of">
          <option value="node">{`the node ${withVisibleControls(node)}`}</option>
          <option value="agent">the agent, for all nodes</option>
        </SelectField>
      )}
      {calls.length > 0 && (
        <>
          <SelectField {...field('call')} label="Other outcome of a call" isOptional>
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
          <TextArea {...field('result')} label="Its result" isOptional rows={2} hint="A text, or JSON." />
        </>
      )}
      {error !== undefined && <ErrorNote error={error} title="The run was not forked." />}
      <Button type="submit" kind="primary" className="self-end" disabled={isSending}>
        {isSending ? 'Forking …' : 'Fork'}
      </Button>
    </form>
  );
}

const NOTHING = { message: '', instructions: '', model: '', of: 'node', call: '', result: '' };

type Typed = typeof NOTHING;

function changesIn({ of, call: callId, ...typed }: Typed, node: string | undefined): ForkChanges {
  const [message, instructions, model] = [typed.message, typed.instructions, typed.model].map((text) => text.trim());
  const asked = { ...(instructions ? { instructions } : {}), ...(model ? { model } : {}) };
  const isOfNode = node !== undefined && of === 'node' && Object.keys(asked).length > 0;
  return {
    ...(message ? { message } : {}),
    ...(isOfNode ? { nodes: { [node]: asked } } : asked),
    ...(callId ? { outcomes: { [callId]: { result: toResult(typed.result.trim()) } } } : {}),
  };
}
