import type { Agent } from '@lastcall/client';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';

interface OfConversationProps {
  readonly agent: Agent;
  readonly tab: 'session' | 'machine';
  readonly contextId: string | undefined;
}

/** Says that a tab shows a conversation, which has a separate session and machine, and leads back to the agent's. */
export function OfConversation({ agent, tab, contextId }: OfConversationProps): ReactElement | null {
  if (contextId === undefined) return null;
  return (
    <p>
      This is the {tab} of one conversation.{' '}
      <Link to="/agents/$id" params={{ id: agent.id }} search={{ tab }} className="link">
        Show the agent’s own
      </Link>
    </p>
  );
}
