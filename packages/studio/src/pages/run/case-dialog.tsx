import type { Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { type FormEvent, type ReactElement, useId, useState } from 'react';
import { addCase, evaluationNames } from '../../data/evaluations.ts';
import { forgetKept, useKept } from '../../parts/form/use-kept.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextArea, TextField } from '../../parts/ui/field.tsx';

/** Stores a run that ended as a case of an evaluation. */
export function CaseButton({ run, agentName = '' }: { run: Run; agentName?: string | undefined }): ReactElement | null {
  const mayWrite = useMay('write');
  const [isOpen, setOpen] = useState(false);
  if (!mayWrite || run.endedAt === undefined) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <FlaskConical size={16} aria-hidden /> Make a case …
      </Button>
      {isOpen && (
        <Dialog title="Make a case of this run" onClose={() => setOpen(false)}>
          <CaseForm run={run} agentName={agentName} />
        </Dialog>
      )}
    </>
  );
}

function CaseForm({ run, agentName }: { run: Run; agentName: string }): ReactElement {
  const queries = useQueryClient();
  const { data: names = [] } = useQuery(evaluationNames);
  const list = useId();
  const draft = `case.${run.id}`;
  const [typed, keep] = useKept(draft, () => ({ expected: run.response ?? '', evaluation: agentName, name: '' }));
  const [stored, setStored] = useState<{ readonly id: string; readonly name: string }>();
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const [evaluation, name] = [typed.evaluation.trim(), typed.name.trim()];
    try {
      const id = await addCase({
        ...{ evaluation, runId: run.id, expected: typed.expected.trim() },
        ...(name === '' ? {} : { name }),
      });
      forgetKept(draft);
      await queries.invalidateQueries({ queryKey: ['evaluations'] });
      setStored({ id, name: evaluation });
    } catch (failure) {
      setError(failure);
    }
  };
  if (stored !== undefined)
    return (
      <p role="status">
        The case is stored in{' '}
        <Link to="/evaluations/$id" params={{ id: stored.id }} className="link">
          <bdi>{withVisibleControls(stored.name)}</bdi>
        </Link>
        . Its run is kept as long as the case.
      </p>
    );
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
      <p className="text-sm text-quiet">
        The case has what was asked, the outcomes of all calls, and the answer that you expect. When it is run, calls
        get the recorded outcomes, and nothing acts outside.
      </p>
      <TextArea
        label="Expected answer"
        hint="For the score contains(), keep only the words that must be in the answer."
        rows={4}
        required
        value={typed.expected}
        onChange={({ target }) => keep({ ...typed, expected: target.value })}
      />
      <TextField
        label="Evaluation"
        required
        list={list}
        maxLength={200}
        value={typed.evaluation}
        onChange={({ target }) => keep({ ...typed, evaluation: target.value })}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextField
        label="Name of the case"
        isOptional
        maxLength={200}
        value={typed.name}
        onChange={({ target }) => keep({ ...typed, name: target.value })}
      />
      {error !== undefined && <ErrorNote error={error} title="The case was not stored." />}
      <div className="flex justify-end">
        <Button kind="primary" type="submit">
          Store the case
        </Button>
      </div>
    </form>
  );
}
