import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function ToolsPage(): ReactElement {
  return <Page title="Tools">{null}</Page>;
}
