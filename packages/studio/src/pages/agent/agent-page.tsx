import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function AgentPage(): ReactElement {
  return <Page title="Agent">{null}</Page>;
}
