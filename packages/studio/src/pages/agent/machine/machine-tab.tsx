import type { Agent, Machine, MachineCommand, MachineWait } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { agentMachine } from '../../../data/agents.ts';
import { NeedsScope } from '../../../parts/session/requires.tsx';
import { useMay } from '../../../parts/session/session.tsx';
import { SafeText } from '../../../parts/text/safe-text.tsx';
import { Button } from '../../../parts/ui/button.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { Section } from '../../../parts/ui/page.tsx';
import { OfConversation } from '../of-conversation.tsx';
import { CommandDialog } from './command-dialog.tsx';
import { InstanceTree } from './instance-tree.tsx';

const route = getRouteApi('/agents/$id');

/** The tree of an agent that is a machine, the calls that wait, and the commands that can be given now. */
export function MachineTab({ agent }: { agent: Agent }): ReactElement | null {
  const { context } = route.useSearch();
  const { data: machine, error, refetch } = useQuery(agentMachine(agent.id, context));
  if (machine === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The machine could not be read." retry={() => void refetch()} />
    );
  return (
    <>
      <OfConversation agent={agent} tab="machine" contextId={context} />
      <Section title="Instances">
        <InstanceTree machine={machine} />
      </Section>
      <Section title="Calls that wait">
        <WaitingCalls waiting={machine.waiting} />
      </Section>
      <Section title="Commands">
        <Commands agent={agent} contextId={context} machine={machine} />
      </Section>
    </>
  );
}

function WaitingCalls({ waiting }: { waiting: readonly MachineWait[] }): ReactElement {
  if (waiting.length === 0) return <p className="text-quiet">None.</p>;
  return (
    <ul className="flex flex-col gap-1">
      {waiting.map(({ callId, toolName, kind, instanceId, node }) => (
        <li key={callId} className="flex flex-wrap gap-x-3">
          <Link to="/calls/$id" params={{ id: callId }} className="font-mono text-xs leading-5 link">
            {withVisibleControls(toolName)}
          </Link>
          <span>{KINDS[kind]}</span>
          <span className="text-quiet">
            asked by {withVisibleControls(node)} ({withVisibleControls(instanceId)})
          </span>
        </li>
      ))}
    </ul>
  );
}

const KINDS: Readonly<Record<MachineWait['kind'], string>> = {
  result: 'waits for a result',
  approval: 'waits for approval',
  input: 'waits for an answer',
};

interface CommandsProps {
  readonly agent: Agent;
  readonly contextId: string | undefined;
  readonly machine: Machine;
}

function Commands({ agent, contextId, machine: { commands } }: CommandsProps): ReactElement {
  const [given, setGiven] = useState<MachineCommand>();
  const mayWrite = useMay('write');
  return (
    <>
      {commands.length === 0 && <p className="text-quiet">None now. Which ones there are depends on the nodes.</p>}
      <ul className="flex flex-col gap-2">
        {commands.map((command) => (
          <li key={`${command.instanceId} ${command.name}`} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Button disabled={!mayWrite} onClick={() => setGiven(command)}>
              {withVisibleControls(command.name)}
            </Button>
            <span className="text-quiet">
              of {withVisibleControls(command.node)} ({withVisibleControls(command.instanceId)})
            </span>
            {command.description !== undefined && <SafeText text={command.description} />}
          </li>
        ))}
      </ul>
      {!mayWrite && commands.length > 0 && <NeedsScope scope="write" to="give commands" />}
      {given !== undefined && (
        <CommandDialog agent={agent} contextId={contextId} command={given} onClose={() => setGiven(undefined)} />
      )}
    </>
  );
}
