import { LastcallProvider } from '@lastcall/client/react';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app/router.tsx';
import { client } from './data/client.ts';
import { forgetProject } from './data/project.ts';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { forgetDrafts } from './pages/space/draft.ts';
import { AnyCard, cards } from './parts/cards/cards.tsx';
import { listenToKeys } from './parts/keyboard/keys.tsx';
import { ConnectionProvider } from './parts/session/connection.tsx';
import { RequireSession } from './parts/session/session.tsx';
import { noticeSessionEnd } from './parts/session/session-end.ts';
import { applyTheme } from './parts/ui/theme.ts';
import './style.css';

// The client already retries what is safe to retry: a second layer would multiply the attempts. And a gateway on this computer responds
// while the browser has no network: otherwise nothing would be loaded or sent then.
const asked = { retry: false, networkMode: 'always' } as const;
const queries = new QueryClient({
  defaultOptions: { queries: asked, mutations: asked },
  queryCache: new QueryCache({ onError: noticeSessionEnd }),
  mutationCache: new MutationCache({ onError: noticeSessionEnd }),
});

/** Most users never open it. */
const CardLinkPage = lazy(async () => ({
  default: (await import('./pages/card-link/card-link-page.tsx')).CardLinkPage,
}));

applyTheme();
listenToKeys();
const element = document.getElementById('studio');
if (element !== null)
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        {location.pathname === '/card' ? (
          <Suspense>
            <CardLinkPage onOtherUser={forgetTab} />
          </Suspense>
        ) : (
          <LastcallProvider client={client} components={cards} fallback={AnyCard}>
            <RequireSession signInPage={SignInPage} onSignOut={forgetTab}>
              <ConnectionProvider>
                <RouterProvider router={router} />
              </ConnectionProvider>
            </RequireSession>
          </LastcallProvider>
        )}
      </QueryClientProvider>
    </StrictMode>,
  );

/** The next user of this tab sees nothing of this one. */
function forgetTab(): void {
  forgetDrafts();
  forgetProject();
}
