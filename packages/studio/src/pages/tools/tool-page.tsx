import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function ToolPage(): ReactElement {
  return <Page title="Tool">{null}</Page>;
}
