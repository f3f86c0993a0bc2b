import { type Agent, ClientError, type MachineCommand } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useRef } from 'react';
import { agentMachine } from '../../../data/agents.ts';
import { client } from '../../../data/client.ts';
import { newKey } from '../../../data/new-key.ts';
import { SchemaForm } from '../../../parts/form/schema-form.tsx';
import { forgetKept } from '../../../parts/form/use-kept.ts';
import { useSchemaForm } from '../../../parts/form/use-schema-form.ts';
import { JsonText, SafeText } from '../../../parts/text/safe-text.tsx';
import { Button } from '../../../parts/ui/button.tsx';
import { Dialog } from '../../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';

interface CommandDialogProps {
  readonly agent: Agent;
  readonly contextId: string | undefined;
  readonly command: MachineCommand;
  readonly onClose: () => void;
}

/** Gives a command to a machine, with a form if it takes an input, and shows what it returned. */
export function CommandDialog({ agent, contextId, command, onClose }: CommandDialogProps): ReactElement {
  const { name, description, inputSchema } = command;
  const form = useSchemaForm(inputSchema ?? {}, undefined, draftOf(command));
  const give = useGiveCommand({ agent, contextId, command });
  const submit = async (): Promise<void> => {
    const read = inputSchema === undefined ? { value: {} } : await form.read();
    if (read !== undefined) give.mutate(read.value);
  };
  return (
    <Dialog title={`Command ${withVisibleControls(name)}`} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!give.isPending) void submit();
        }}
        className="flex flex-col gap-3"
      >
        {description !== undefined && <SafeText text={description} />}
        {inputSchema !== undefined && give.data === undefined && (
          <SchemaForm form={form} isDisabled={give.isPending || isUnanswered(give.error)} />
        )}
        {give.data === undefined && <When agent={agent} />}
        {give.error !== null && <Failed error={give.error} />}
        {give.data !== undefined && <Returned output={give.data.output} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{give.data === undefined ? 'Cancel' : 'Close'}</Button>
          {give.data === undefined && (
            <Button kind="primary" type="submit" disabled={give.isPending}>
              {give.isPending ? 'Running …' : isUnanswered(give.error) ? 'Send it again' : 'Run it'}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const draftOf = ({ instanceId, name }: MachineCommand): string => `command.${instanceId}.${name}`;

/**
 * The key stays the same while it is unknown whether the command ran, so that it runs once. A command that failed
 * changed nothing: the next try is another one.
 */
function useGiveCommand({ agent, contextId, command }: Omit<CommandDialogProps, 'onClose'>) {
  const queries = useQueryClient();
  const key = useRef<string>(undefined);
  const { name, instanceId } = command;
  return useMutation({
    mutationFn(input: unknown) {
      key.current ??= newKey();
      const given = { name, instanceId, input, idempotencyKey: key.current };
      return client.agents.command(agent.id, given, contextId === undefined ? {} : { contextId });
    },
    onError(error) {
      if (!isUnanswered(error)) key.current = undefined;
    },
    onSuccess: () => forgetKept(draftOf(command)),
    onSettled: () => queries.invalidateQueries({ queryKey: agentMachine(agent.id, contextId).queryKey }),
  });
}

function isUnanswered(error: unknown): boolean {
  return error !== null && !(error instanceof ClientError && error.code !== 'unreachable');
}

function When({ agent }: { agent: Agent }): ReactElement {
  return (
    <p className="text-sm text-quiet">
      {agent.status === 'active'
        ? 'It runs before the next step of the machine: after a run that is under way.'
        : `The agent is ${agent.status}: the command may wait until it is resumed.`}
    </p>
  );
}

function Failed({ error }: { error: unknown }): ReactElement {
  return isUnanswered(error) ? (
    <ErrorNote error={error} title="It is not known whether it ran.">
      <p className="text-quiet">Send it again: it runs once.</p>
    </ErrorNote>
  ) : (
    <ErrorNote error={error} title="The command changed nothing." />
  );
}

function Returned({ output }: { output: unknown }): ReactElement {
  return (
    <div role="status" className="flex flex-col gap-2">
      <p className="text-ok">The command ran.</p>
      {output !== null && output !== undefined && <JsonText value={output} label="What it returned" />}
    </div>
  );
}
