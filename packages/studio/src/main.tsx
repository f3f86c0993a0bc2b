import { LastcallProvider } from '@lastcall/client/react';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ConnectionProvider } from './app/connection.tsx';
import { router } from './app/router.tsx';
import { applyTheme } from './app/theme.ts';
import { AnyCard } from './cards/any-card.tsx';
import { cards } from './cards/cards.ts';
import { client } from './data/client.ts';
import { listenToKeys } from './keyboard/keys.tsx';
import { RequireSession } from './session/session.tsx';
import { noticeSessionEnd } from './session/session-end.ts';
import './style.css';

// The client already retries what is safe to retry: a second layer would multiply the attempts.
const queries = new QueryClient({
  defaultOptions: { queries: { retry: false }, mutations: { retry: false } },
  queryCache: new QueryCache({ onError: noticeSessionEnd }),
  mutationCache: new MutationCache({ onError: noticeSessionEnd }),
});

applyTheme();
listenToKeys();
const element = document.getElementById('studio');
if (element !== null)
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <LastcallProvider client={client} components={cards} fallback={AnyCard}>
          <RequireSession>
            <ConnectionProvider>
              <RouterProvider router={router} />
            </ConnectionProvider>
          </RequireSession>
        </LastcallProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
