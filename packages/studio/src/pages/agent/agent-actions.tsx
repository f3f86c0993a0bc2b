import type { Agent } from '@lastcall/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Pause, Play, Trash2 } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { AGENT_LISTS, agentById } from '../../data/agents.ts';
import { client } from '../../data/client.ts';
import { EraseButton } from '../../parts/erasure/erase-button.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';

/** Pause and resume. */
export function AgentActions({ agent }: { agent: Agent }): ReactElement | null {
  const [asked, setAsked] = useState<'pause' | 'resume' | undefined>();
  if (!useMay('write')) return null;
  const close = (): void => setAsked(undefined);
  return (
    <>
      {agent.status === 'paused' || agent.status === 'invalid' ? (
        <Button onClick={() => setAsked('resume')}>
          <Play size={16} aria-hidden /> Resume
        </Button>
      ) : (
        <Button onClick={() => setAsked('pause')}>
          <Pause size={16} aria-hidden /> Pause
        </Button>
      )}
      {asked === 'pause' && <PauseDialog agent={agent} onClose={close} />}
      {asked === 'resume' && <ResumeDialog agent={agent} onClose={close} />}
    </>
  );
}

interface AskedProps {
  readonly agent: Agent;
  readonly onClose: () => void;
}

export function PauseDialog({ agent, onClose }: AskedProps): ReactElement {
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={`Pause ${agent.name}?`}
      action="Pause"
      onClose={onClose}
      onConfirm={async () => queries.setQueryData(agentById(agent.id).queryKey, await client.agents.pause(agent.id))}
    >
      <p>
        {agent.running === undefined ? 'It starts no new run.' : 'The current run finishes; no other starts.'} New
        events wait in its inbox until it is resumed.
      </p>
    </ConfirmDialog>
  );
}

export function ResumeDialog({ agent, onClose }: AskedProps): ReactElement {
  const queries = useQueryClient();
  const { pending } = agent.inbox;
  return (
    <ConfirmDialog
      title={`Resume ${agent.name}?`}
      action="Resume"
      onClose={onClose}
      onConfirm={async () => queries.setQueryData(agentById(agent.id).queryKey, await client.agents.resume(agent.id))}
    >
      <p>{pending === 0 ? 'Its inbox is empty.' : `It starts at once with the ${pending} events in its inbox.`}</p>
    </ConfirmDialog>
  );
}

/** Kept away from the buttons that are used every day. */
export function DeleteAgent({ agent }: { agent: Agent }): ReactElement | null {
  const [isAsked, setAsked] = useState(false);
  if (!useMay('write')) return null;
  return (
    <div className="flex flex-wrap gap-2">
      <Button kind="danger" onClick={() => setAsked(true)}>
        <Trash2 size={16} aria-hidden /> Delete the agent
      </Button>
      <EraseButton
        name={agent.name}
        word="Delete and erase"
        stale={AGENT_LISTS}
        onErase={() => client.agents.erase(agent.id)}
      >
        <p>
          It is deleted, and everything that it wrote is erased: messages, transcripts, memories and files. This cannot
          be undone.
        </p>
      </EraseButton>
      {isAsked && <DeleteDialog agent={agent} onClose={() => setAsked(false)} />}
    </div>
  );
}

function DeleteDialog({ agent, onClose }: AskedProps): ReactElement {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${agent.name}?`}
      action="Delete for good"
      isDanger
      typed={agent.name}
      onClose={onClose}
      onConfirm={async () => {
        await client.agents.delete(agent.id);
        await navigate({ to: '/agents' });
        queries.removeQueries({ queryKey: ['agents', agent.id] });
        await Promise.all(AGENT_LISTS.map((queryKey) => queries.invalidateQueries({ queryKey })));
      }}
    >
      <p>
        Its running work and its waiting calls are cancelled. Its messages, runs and transcripts are kept.
        {agent.source === 'file' &&
          ' It comes from the configuration file: remove it there too, or the next start creates it again.'}
      </p>
    </ConfirmDialog>
  );
}
