import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { EmptyState } from '../parts/ui/empty-state.tsx';
import { Page } from '../parts/ui/page.tsx';

export function NotFoundPage(): ReactElement {
  return (
    <Page title="Nothing here">
      <EmptyState title="There is no page at this address.">
        <p>
          The link may be old or incomplete. Go to{' '}
          <Link to="/" className="text-accent underline">
            your spaces
          </Link>
          .
        </p>
      </EmptyState>
    </Page>
  );
}
