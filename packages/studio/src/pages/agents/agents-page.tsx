import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function AgentsPage(): ReactElement {
  return <Page title="Agents">{null}</Page>;
}
