/// <reference lib="dom" />
import { createClient } from '@lastcall/client';
import { LastcallProvider, ToolCard, useSpace } from '@lastcall/client/react';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { SeatMap } from './seat-map.tsx';

interface Session {
  readonly url: string;
  readonly spaceId: string;
  /** The token of the person who is logged in. */
  readonly token: string;
}

/** Shows messages as text, and calls as cards. The registry chooses the component of a call by `display.customUI`. */
function Space({ id }: { id: string }): ReactNode {
  const { items, say } = useSpace(id);
  return (
    <>
      <h1>Station</h1>
      {items.map((item) =>
        item.kind === 'text' ? <p key={item.id}>{item.text}</p> : <ToolCard key={item.id} item={item} />,
      )}
      <button type="button" onClick={() => void say('Two seats to Oslo, please.')}>
        Ask for seats
      </button>
    </>
  );
}

const session = async (): Promise<Session> => (await fetch('/session')).json() as Promise<Session>;
const { url, spaceId } = await session();
// The client calls `token` again whenever the gateway no longer accepts the old one.
const client = createClient({ url, auth: { token: async () => (await session()).token } });
const element = document.getElementById('page');
if (element !== null)
  createRoot(element).render(
    <LastcallProvider client={client} components={{ seatMap: SeatMap }}>
      <Space id={spaceId} />
    </LastcallProvider>,
  );
