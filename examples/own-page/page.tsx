/// <reference lib="dom" />
import { createClient, type Space } from '@lastcall/client';
import { LastcallProvider, ToolCard, usePending, useSpace } from '@lastcall/client/react';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** A support desk: the tickets with what waits, and the open one with its messages and cards. The cards are those of the client. */
function Desk({ tickets }: { tickets: readonly Space[] }): ReactNode {
  const [open, setOpen] = useState(tickets[0]?.id ?? '');
  const { calls = [] } = usePending({ everyMs: 1_000 });
  return (
    <>
      <nav aria-label="Tickets">
        <h1>Support desk</h1>
        {tickets.map(({ id, name }) => {
          const waiting = calls.filter(({ spaceId }) => spaceId === id).length;
          return (
            <button key={id} type="button" aria-pressed={id === open} onClick={() => setOpen(id)}>
              {name} {waiting > 0 && <mark>{waiting} waiting</mark>}
            </button>
          );
        })}
      </nav>
      <Ticket key={open} id={open} />
    </>
  );
}

function Ticket({ id }: { id: string }): ReactNode {
  const { space, members, items, active, failures, connection, say } = useSpace(id);
  const nameOf = (entityId: string): string =>
    members.find((one) => one.entityId === entityId)?.displayName ?? 'Former member';
  const [problem, setProblem] = useState('');
  const send = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get('text')).trim();
    if (text === '') return;
    setProblem('');
    say(text).then(
      () => form.reset(),
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <main aria-busy={connection !== 'live'}>
      <h2>{space?.name}</h2>
      <div role="log" aria-label="Messages">
        {items.map((item) =>
          item.kind === 'text' ? (
            <p key={item.id} className="message">
              <b>{nameOf(item.entityId)}</b> {item.text}
            </p>
          ) : (
            <ToolCard key={item.id} item={item} />
          ),
        )}
      </div>
      <p role="status">
        {active.map((entityId) => `${nameOf(entityId)} is at work. `)}
        {failures.length > 0 && 'The agent failed. An operator can try it again. '}
        {connection === 'live' ? '' : 'Connecting …'} {problem}
      </p>
      <form onSubmit={send}>
        <input name="text" aria-label="Write to the ticket" placeholder="Write to the ticket …" autoComplete="off" />
        <button type="submit">Send</button>
      </form>
    </main>
  );
}

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
  body { margin: 0; overflow-wrap: anywhere; }
  #page { display: grid; grid-template-columns: 14rem minmax(0, 44rem); gap: 2rem; padding: 1.5rem; }
  @media (width < 45rem) { #page { grid-template-columns: minmax(0, 1fr); } }
  h1 { font-size: 1.25rem; margin: 0 0 1rem; } h2 { margin: 0; } h4 { margin: 0; }
  button, input, select, textarea { font: inherit; padding: 0.3rem 0.8rem; border: 1px solid #888; border-radius: 6px; }
  nav button { display: block; width: 100%; text-align: left; margin-bottom: 0.5rem; } nav [aria-pressed="true"] { font-weight: 600; }
  form, fieldset p { display: flex; flex-wrap: wrap; gap: 0.5rem; } form input { flex: 1; } fieldset { border: 0; padding: 0; }
  fieldset label { flex: 1 0 100%; } fieldset textarea { flex: 1 0 100%; box-sizing: border-box; }
  [data-card] { border: 1px solid #888; border-radius: 10px; padding: 1rem; margin: 1rem 0; }
  [data-status="waiting"] { border-color: #b26a00; } dt { font-weight: 600; } dd { margin: 0 0 0.5rem; } small, code { font-weight: 400; opacity: 0.8; }
  mark { background: #f3c877; color: #1b1a17; border-radius: 6px; padding: 0 0.4rem; font-weight: 400; }
  fieldset textarea { field-sizing: content; min-height: 1.5rem; }
  details section { border: 1px solid #888; border-radius: 6px; padding: 0.5rem; }
`;

interface Session {
  readonly url: string;
  /** The token of the person who is logged in. */
  readonly token: string;
}

const session = async (): Promise<Session> => (await fetch('/session')).json() as Promise<Session>;
const { url } = await session();
// The client calls `token` again whenever the gateway no longer accepts the old one.
const client = createClient({ url, auth: { token: async () => (await session()).token } });
const { items: tickets } = await client.spaces.list();
const element = document.getElementById('page');
if (element !== null)
  createRoot(element).render(
    <LastcallProvider client={client}>
      <style>{STYLE}</style>
      <Desk tickets={tickets} />
    </LastcallProvider>,
  );
