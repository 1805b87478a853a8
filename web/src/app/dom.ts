// Elements of the page: a typed builder, and reconciliation of new elements with those that are shown.

import { begin } from "./activity.ts";

type Child = Node | string | null | undefined | false;

type Same<X, Y> = (<T>() => T extends X ? 1 : 2) extends <T>() => T extends Y ? 1 : 2 ? true : false;
/** The properties of an element that can be assigned. */
type Writable<E> = {
  [P in keyof E as Same<{ [Q in P]: E[P] }, { -readonly [Q in P]: E[P] }> extends true ? P : never]?: E[P] | undefined;
};

/** Attributes without a property of the same name. */
interface Attributes {
  class?: string | undefined;
  role?: string | undefined;
  style?: string | undefined;
  tabindex?: string | undefined;
  colspan?: string | undefined;
  novalidate?: boolean | undefined;
  inputmode?: string | undefined;
  [name: `data-${string}` | `aria-${string}`]: string | undefined;
}

/** The event handlers of an element. */
type Events = { [T in keyof HTMLElementEventMap as `on${T}`]?: (event: HTMLElementEventMap[T]) => void };

export type Properties<K extends keyof HTMLElementTagNameMap> = Omit<Writable<HTMLElementTagNameMap[K]>, keyof Attributes | keyof Events | "list"> & Attributes & Events;

type Handlers = Map<string, (event: Event) => void>;

/** The event handlers of each element. Reconciliation moves them from a new element to the one that is kept. */
const handlersOf = new WeakMap<Element, Handlers>();

function dispatch(this: Element, event: Event): void {
  handlersOf.get(this)?.get(event.type)?.call(this, event);
}

/** Returns an element with properties, event handlers (`onclick` …) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties<K> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const handlers: Handlers = new Map();
  for (const [name, value] of Object.entries(properties) as [string, unknown][]) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      handlers.set(name.slice(2), value as (event: Event) => void);
      element.addEventListener(name.slice(2), dispatch);
    } else if (name in element && !name.includes("-") && name !== "style" && name !== "role") {
      (element as unknown as Record<string, unknown>)[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  if (handlers.size > 0) handlersOf.set(element, handlers);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Replaces an element's children, and keeps the corresponding elements that exist: focus, scroll positions and half-typed values survive.
 * Elements correspond by tag and `data-key`; the contents of an element with `data-keep` are not changed.
 */
export function update(root: Element, ...children: Child[]): void {
  const wanted: Node[] = children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  let at: ChildNode | null = root.firstChild;
  for (const node of wanted) {
    const found = matching(at, node);
    if (found === null) {
      root.insertBefore(node, at);
      continue;
    }
    while (at !== null && at !== found) at = removed(at);
    if (found !== node) patch(found, node);
    at = found.nextSibling;
  }
  while (at !== null) at = removed(at);
}

function removed(node: ChildNode): ChildNode | null {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/** Returns the next sibling that corresponds to a node; without a key, only the first is considered. */
function matching(from: ChildNode | null, wanted: Node): ChildNode | null {
  const key = wanted instanceof HTMLElement ? wanted.dataset["key"] : undefined;
  for (let node = from; node !== null; node = node.nextSibling) {
    if (node === wanted) return node;
    const same = node.nodeName === wanted.nodeName && (node instanceof HTMLElement ? node.dataset["key"] : undefined) === key;
    if (same) return node;
    if (key === undefined) return null;
  }
  return null;
}

function patch(old: Node, wanted: Node): void {
  if (!(old instanceof Element) || !(wanted instanceof Element)) {
    if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
    return;
  }
  const handlers = handlersOf.get(wanted);
  for (const name of handlers?.keys() ?? []) if (!handlersOf.get(old)?.has(name)) old.addEventListener(name, dispatch);
  if (handlers !== undefined) handlersOf.set(old, handlers);
  else handlersOf.delete(old);
  if (old.hasAttribute("data-keep")) return;
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  update(old, ...wanted.childNodes);
  const typing = document.activeElement === old;
  if (old instanceof HTMLInputElement && wanted instanceof HTMLInputElement) {
    if (old.type !== "file" && !typing && old.value !== wanted.value) old.value = wanted.value;
    old.checked = wanted.checked;
  } else if (old instanceof HTMLSelectElement && wanted instanceof HTMLSelectElement && old.value !== wanted.value) old.value = wanted.value;
  else if (old instanceof HTMLButtonElement && wanted instanceof HTMLButtonElement) old.disabled = wanted.disabled;
}

/** Returns the element with an id, which must exist. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${id}`);
  return element;
}

/** Debounces a function: calls it once, `ms` milliseconds after the last call. */
export function settled<A extends unknown[]>(ms: number, run: (...args: A) => void): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end: (() => void) | undefined;
  return (...args) => {
    clearTimeout(timer);
    end ??= begin();
    timer = setTimeout(() => {
      const done = end;
      end = undefined;
      try {
        run(...args);
      } finally {
        done?.();
      }
    }, ms);
  };
}

/** Returns the message of an error. */
export const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));
