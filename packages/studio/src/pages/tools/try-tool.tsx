import { ClientError, type Settlement, type Tool } from '@lastcall/client';
import { callStatus } from '@lastcall/client/timeline';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Play, TriangleAlert } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { readJson } from '../../parts/form/draft.ts';
import { problemsOf } from '../../parts/form/problems-of.ts';
import { SchemaForm } from '../../parts/form/schema-form.tsx';
import { useSchemaForm } from '../../parts/form/use-schema-form.ts';
import { NeedsScope } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { JsonText, SafeText } from '../../parts/text/safe-text.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { OutcomeMark } from '../../parts/ui/outcome.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { duration } from '../../parts/ui/time.tsx';

const route = getRouteApi('/tools/$id');

/** Calls the tool once, for real, with a form made from its schema. */
export function TryTool({ tool }: { tool: Tool }): ReactElement {
  const mayTry = useMay('admin');
  return (
    <Section title="Try it">
      {mayTry ? <TrialForm tool={tool} /> : <NeedsScope scope="admin" to="try a tool" />}
    </Section>
  );
}

function TrialForm({ tool }: { tool: Tool }): ReactElement {
  const { try: given } = route.useSearch();
  const form = useSchemaForm(
    tool.inputSchema,
    given === undefined ? undefined : readJson(given).value,
    `try.${tool.id}`,
  );
  const [mayRun, setMayRun] = useState(false);
  const trial = useMutation({
    mutationFn: (input: unknown) =>
      client.tools.test(tool.id, { input, ...(tool.approval && mayRun ? { approve: true as const } : {}) }),
    onError: (error) => form.showProblems(problemsOf(error), 'input'),
  });
  const submit = async (): Promise<void> => {
    const read = await form.read();
    if (read !== undefined) trial.mutate(read.value);
  };
  return (
    <form
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void submit();
      }}
      className="flex max-w-2xl flex-col gap-3"
    >
      <SchemaForm form={form} isDisabled={trial.isPending} />
      {tool.approval && (
        <label className="flex min-h-8 items-center gap-2">
          <input type="checkbox" checked={mayRun} onChange={({ target }) => setMayRun(target.checked)} />I approve this
          call: agents must ask a person first.
        </label>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="primary" type="submit" disabled={trial.isPending}>
          <Play size={16} aria-hidden /> {trial.isPending ? 'Running …' : 'Run once'}
        </Button>
        {tool.effects === 'external' && (
          <span className="inline-flex items-center gap-1 font-medium">
            <TriangleAlert size={16} aria-hidden /> This really acts.
          </span>
        )}
      </div>
      {trial.error !== null && <Failed error={trial.error} />}
      {trial.data !== undefined && !trial.isPending && <Result settlement={trial.data} />}
    </form>
  );
}

function Failed({ error }: { error: unknown }): ReactElement {
  const isAlone = error instanceof ClientError && error.code === 'not_testable';
  return (
    <ErrorNote error={error} title={isAlone ? 'It cannot be tried here.' : 'The gateway did not run it.'}>
      {isAlone && <p className="text-quiet">Ask an agent that has it, and look at the run.</p>}
    </ErrorNote>
  );
}

/** How the call ended: one word, how long, and its result. */
function Result({ settlement }: { settlement: Settlement }): ReactElement {
  const { outcome, startedAt, endedAt, terminal } = settlement;
  return (
    <div role="status" className="appear flex flex-col gap-2 rounded border border-line p-3">
      <p className="flex flex-wrap items-center gap-x-3">
        <OutcomeMark name={callStatus(outcome)} detail={outcome.status === 'error' ? outcome.code : undefined} />
        <span className="text-xs text-quiet tabular-nums">{duration(endedAt - startedAt)}</span>
        {terminal === true && <span className="text-xs text-quiet">It would have ended the run.</span>}
      </p>
      <Outcome outcome={outcome} />
    </div>
  );
}

function Outcome({ outcome }: { outcome: Settlement['outcome'] }): ReactElement {
  switch (outcome.status) {
    case 'ok':
      return outcome.value === undefined || outcome.value === null ? (
        <p className="text-quiet">It returned nothing.</p>
      ) : (
        <JsonText value={outcome.value} label="Result" />
      );
    case 'error':
      return (
        <>
          <SafeText text={outcome.message} />
          {outcome.effect === 'possible' && (
            <p className="text-doubt">
              It is not known whether it acted: check the other service before you try again.
            </p>
          )}
        </>
      );
    case 'pending':
      return (
        <p>
          {outcome.kind === 'approval'
            ? 'It was not run: it needs approval. Approve it above and run it again.'
            : 'In a run it would now wait for an answer. No one was asked, because this was a trial.'}
        </p>
      );
    default:
      return <SafeText text={outcome.reason} />;
  }
}
