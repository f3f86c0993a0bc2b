/// <reference lib="dom" />
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

interface Session {
  /** The gateway's `/api/agents/:id/chat`. */
  readonly api: string;
  /** The token of the person who is logged in. */
  readonly token: string;
}

type Part = UIMessage['parts'][number];
type CallPart = Extract<Part, { toolCallId: string }>;
type Decide = (id: string, approved: boolean) => Promise<void>;

function ChatPage({ api, token }: Session): ReactNode {
  const { messages, sendMessage, status, error, resumeStream, addToolApprovalResponse } = useChat({
    id: stored('chat', () => crypto.randomUUID()),
    messages: stored<UIMessage[]>('messages', () => []),
    // A page that is loaded again shows the answer that is being written, or the call that waits.
    resume: true,
    transport: new DefaultChatTransport({
      api,
      headers: { authorization: `Bearer ${token}` },
      // The gateway knows the conversation: the newest message is enough, or the one whose calls were answered.
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
        body: {
          ...body,
          id,
          trigger,
          messageId,
          messages: [messages.find((one) => one.id === messageId) ?? messages.at(-1)],
        },
      }),
    }),
    // The decision is sent as soon as every call of the message has one.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  useEffect(() => sessionStorage.setItem('messages', JSON.stringify(messages)), [messages]);
  useReconnect(error, resumeStream);
  const decide: Decide = async (id, approved) => {
    await addToolApprovalResponse({ id, approved });
    // Of earlier messages, no decision is sent by itself.
    if (!messages.at(-1)?.parts.some((part) => isToolUIPart(part) && part.approval?.id === id)) await sendMessage();
  };
  return (
    <>
      <h1>Chat with the cashier</h1>
      <ol aria-live="polite">
        {messages.map(({ id, role, parts }) => (
          <li key={id} data-role={role}>
            {parts.map((part, index) => (
              <MessagePart key={index} part={part} decide={decide} />
            ))}
          </li>
        ))}
      </ol>
      {error !== undefined && <p role="alert">{error.message}</p>}
      <NewMessage
        isBusy={status === 'submitted' || status === 'streaming'}
        send={(text) => void sendMessage({ text })}
      />
    </>
  );
}

function MessagePart({ part, decide }: { part: Part; decide: Decide }): ReactNode {
  if (part.type === 'text') return <p>{part.text}</p>;
  return isToolUIPart(part) ? <CallCard part={part} decide={decide} /> : null;
}

function CallCard({ part, decide }: { part: CallPart; decide: Decide }): ReactNode {
  return (
    <section className="call" aria-label={`Call of ${getToolName(part)}`}>
      <strong>
        {getToolName(part)} {JSON.stringify(part.input)}
      </strong>
      {part.state === 'approval-requested' && (
        <div className="choice">
          <button type="button" onClick={() => void decide(part.approval.id, true)}>
            Approve
          </button>
          <button type="button" onClick={() => void decide(part.approval.id, false)}>
            Deny
          </button>
        </div>
      )}
      {part.state === 'output-available' && <output>{String(part.output)}</output>}
      {part.state === 'output-denied' && <output>Denied</output>}
      {part.state === 'output-error' && <output>{part.errorText}</output>}
    </section>
  );
}

function NewMessage({ isBusy, send }: { isBusy: boolean; send: (text: string) => void }): ReactNode {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send(text);
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      <button type="submit" disabled={isBusy || text.trim() === ''}>
        Send
      </button>
    </form>
  );
}

/** A lost connection shows as a TypeError. The run goes on at the gateway, so the page reconnects for the rest. */
function useReconnect(error: Error | undefined, resumeStream: () => Promise<void>): void {
  useEffect(() => {
    if (!(error instanceof TypeError)) return;
    const timer = setTimeout(() => void resumeStream(), 1_000);
    return () => clearTimeout(timer);
  }, [error, resumeStream]);
}

/** One conversation per tab. It stays when the page is loaded again. */
function stored<T>(name: string, create: () => T): T {
  const known = sessionStorage.getItem(name);
  const value = known === null ? create() : (JSON.parse(known) as T);
  sessionStorage.setItem(name, JSON.stringify(value));
  return value;
}

const session = (await (await fetch('/session')).json()) as Session;
const root = document.getElementById('chat');
if (root !== null) createRoot(root).render(<ChatPage {...session} />);
