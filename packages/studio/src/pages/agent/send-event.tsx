import type { Agent } from '@lastcall/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { readJson } from '../../parts/form/draft.ts';
import { forgetKept, useKept } from '../../parts/form/use-kept.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextArea, TextField } from '../../parts/ui/field.tsx';

/** Sends an event as one of the builder's services would, which wakes an agent without a space. */
export function SendEvent({ agent }: { agent: Agent }): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  if (!useMay('write')) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Send size={16} aria-hidden /> Send an event
      </Button>
      {isOpen && (
        <Dialog title={`Send an event to ${agent.name}`} onClose={() => setOpen(false)}>
          <EventForm agent={agent} onSent={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

function EventForm({ agent, onSent }: { agent: Agent; onSent: () => void }): ReactElement {
  const draft = `event.${agent.id}`;
  const [event, setEvent] = useKept(draft, () => ({ name: 'order.paid', source: 'studio', data: '' }));
  const { name, source, data } = event;
  const [problem, setProblem] = useState<string | undefined>();
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: (sent: Parameters<typeof client.agents.send>[1]) => client.agents.send(agent.id, sent),
    async onSuccess() {
      forgetKept(draft);
      onSent();
      await queries.invalidateQueries({ queryKey: ['agents', agent.id] });
    },
  });
  const submit = (submitted: FormEvent): void => {
    submitted.preventDefault();
    const read = data.trim() === '' ? { value: undefined, problems: [] } : readJson(data);
    setProblem(read.problems[0]?.message);
    if (read.problems.length > 0) return;
    send.mutate({
      name: name.trim(),
      source: source.trim(),
      ...(read.value === undefined ? {} : { data: read.value }),
    });
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-3">
      <TextField label="Name" value={name} onChange={({ target }) => setEvent({ ...event, name: target.value })} />
      <TextField
        label="Source"
        hint="Who sends it."
        value={source}
        onChange={({ target }) => setEvent({ ...event, source: target.value })}
      />
      <TextArea
        label="Data"
        isOptional
        hint="JSON, e.g. { &quot;order&quot;: 7 }"
        rows={4}
        spellCheck={false}
        className="font-mono text-xs"
        value={data}
        problem={problem}
        onChange={({ target }) => setEvent({ ...event, data: target.value })}
      />
      {send.error !== null && <ErrorNote error={send.error} title="Nothing was sent." />}
      <div>
        <Button kind="primary" type="submit" disabled={send.isPending || name.trim() === '' || source.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  );
}
