import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function InboxPage(): ReactElement {
  return <Page title="Inbox">{null}</Page>;
}
