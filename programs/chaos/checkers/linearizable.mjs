// Checks that the observations of a lock or a latch are linearizable: each operation takes effect at one moment
// between its call and its return. This is the search of Wing and Gong with the memory of Lowe, in the order of time.
// It keeps all configurations that explain the returns so far. A configuration is a state of the lock, and the
// operations without a return that have taken effect. The number of configurations does not grow with the history. If
// no configuration is left, the model cannot explain the last return.

const ORDER = { call: 0, mayEnd: 1, return: 2, endsNoMore: 3, expires: 4 }

/**
 * @param model one of models.mjs
 * @param history `operations`, and `endings`: `{ hold, from, to }`, the times between which a hold may end by itself
 * @param most the search is undecided after this many configurations
 * @returns `verdict`: 'linearizable', 'convicted' or 'undecided'; `at`: the operation that the model does not explain
 */
export function linearize(model, { operations, endings = [] }, { most = 20_000 } = {}) {
  const events = eventsOf(withoutTheUnheard(operations), endings)
  const search = new Search(model, most)
  for (const { type, what } of events) {
    search[type](what)
    if (search.isTooLarge) return { verdict: 'undecided', at: what, widest: search.widest }
    if (search.configurations.length === 0) return { verdict: 'convicted', at: what }
  }
  return { verdict: 'linearizable', widest: search.widest }
}

/**
 * Removes acquisitions that never returned and whose hold has no other operation. Such an acquisition may have
 * happened or not. If a history with it can be explained, the history without it can be explained too.
 */
function withoutTheUnheard(operations) {
  const unheard = new Set()
  for (const one of operations) if (isUnheard(one)) unheard.add(one.hold)
  if (unheard.size === 0) return operations
  for (const one of operations) if (!isUnheard(one)) unheard.delete(one.hold)
  return operations.filter((one) => !isUnheard(one) || !unheard.has(one.hold))
}

const isUnheard = ({ kind, to }) => kind === 'acquire' && to === Infinity

function eventsOf(operations, endings) {
  const events = []
  for (const what of operations) {
    events.push({ at: what.from, type: 'call', what })
    if (what.to !== Infinity) events.push({ at: what.to, type: 'return', what })
    else if (what.expiresAt !== undefined)
      events.push({ at: what.expiresAt, type: 'expires', what })
  }
  for (const what of endings) {
    events.push({ at: what.from, type: 'mayEnd', what })
    if (what.to !== Infinity) events.push({ at: what.to, type: 'endsNoMore', what })
  }
  return events.sort((a, b) => a.at - b.at || ORDER[a.type] - ORDER[b.type])
}

const NOTHING = []

class Search {
  widest = 1
  #model
  #most
  /** True if the search did not keep all configurations. */
  #isCut = false
  /** Operations that may take effect before they must. */
  #early = new Set()
  /** Acquisitions that have not returned, by hold. */
  #called = new Map()
  /** The acquisitions among them whose tokens show no order. */
  #unordered = new Set()
  /** Holds that may end by themselves now, each with the number of reasons. */
  #ending = new Map()

  constructor(model, most) {
    this.#model = model
    this.#most = most
    this.configurations = [{ state: model.first, done: NOTHING }]
  }

  get isTooLarge() {
    return this.#isCut || this.configurations.length > this.#most
  }

  call(operation) {
    const { kind, hold, to } = operation
    if (kind !== 'acquire' || to === Infinity) {
      this.#early.add(operation)
      if (this.#model.observes === undefined) return
      for (const one of this.configurations) one.done = this.#withObservers(one.state, one.done)
    } else {
      // Nothing can undo the acquisition before it returns. So an earlier effect explains nothing more, unless the
      // hold can end by itself before the return.
      this.#called.set(hold, operation)
      // If a server forgot a token, concurrent acquisitions may have been granted in any order.
      if (operation.forgottenBelow !== undefined) this.#unordered.add(operation)
      if (this.#unordered.size > 0) for (const one of this.#called.values()) this.#early.add(one)
      if (this.#ending.has(hold)) this.#early.add(operation)
    }
  }

  return(operation) {
    const found = new Found(this.#model)
    for (const one of this.configurations) {
      if (one.done.includes(operation)) {
        found.add(one.state, without(one.done, operation))
      } else this.#explore(one, found, operation)
    }
    this.#early.delete(operation)
    this.#unordered.delete(operation)
    if (this.#called.get(operation.hold) === operation) this.#called.delete(operation.hold)
    this.#keep(found)
  }

  mayEnd(ending) {
    this.#ending.set(ending.hold, (this.#ending.get(ending.hold) ?? 0) + 1)
    const called = this.#called.get(ending.hold)
    if (called !== undefined) this.#early.add(called)
  }

  /** The hold has ended by this time, or does not end for this reason. */
  endsNoMore(ending) {
    const { hold } = ending
    const found = new Found(this.#model)
    const called = this.#called.get(hold)
    for (const one of this.configurations) {
      found.add(one.state, one.done)
      this.#addEnded(hold, one, found)
      if (called === undefined || one.done.includes(called)) continue
      // The hold began and ended before any process learned of it.
      const granted = new Found(this.#model)
      this.#explore(one, granted, called)
      for (const { state, done } of granted.all) {
        this.#addEnded(hold, { state, done: [...done, called] }, found)
      }
    }
    const left = this.#ending.get(ending.hold) - 1
    if (left > 0) this.#ending.set(ending.hold, left)
    else this.#ending.delete(ending.hold)
    this.#keep(found)
  }

  /** An operation that never returned has happened before this time, or never happens. */
  expires(operation) {
    const found = new Found(this.#model)
    for (const { state, done } of this.configurations) found.add(state, without(done, operation))
    for (const one of this.configurations) {
      if (!one.done.includes(operation)) this.#explore(one, found, operation)
    }
    this.#early.delete(operation)
    this.#keep(found)
  }

  #addEnded(hold, { state, done }, found) {
    const next = this.#model.end(state, hold)
    if (next !== undefined) found.add(next, done)
  }

  #keep(found) {
    this.configurations = found.all.length > 2 ? this.#withoutNeedless(found.all) : found.all
    this.widest = Math.max(this.widest, found.all.length)
  }

  /**
   * Removes unnecessary configurations. A hold that may end by itself may also end later. So a configuration without
   * the hold explains nothing more than the same configuration with the hold.
   */
  #withoutNeedless(all) {
    if (this.#ending.size === 0) return all
    const groups = new Map()
    for (const one of all) {
      const mayEnd = this.#model.holds(one.state).filter((hold) => this.#ending.has(hold))
      const rest = mayEnd.reduce((state, hold) => this.#model.end(state, hold), one.state)
      const key = keyOf(this.#model, { state: rest, done: one.done })
      const group = groups.get(key) ?? []
      groups.set(key, group)
      group.push({ one, mayEnd: new Set(mayEnd) })
    }
    if (groups.size === all.length) return all
    return [...groups.values()]
      .flatMap((group) =>
        group.filter(({ mayEnd }) => !group.some((other) => contains(other.mayEnd, mayEnd))),
      )
      .map(({ one }) => one)
  }

  /** The configurations that can result if this operation is the last step. */
  #explore(from, found, last) {
    const seen = new Found(this.#model)
    const todo = [from]
    seen.add(from.state, from.done)
    const mustBeBefore = this.#mustBeBefore(last)
    while (todo.length > 0 && seen.size + found.size <= this.#most + 1) {
      const { state, done } = todo.pop()
      const push = (next, after) => {
        if (seen.add(next, after)) todo.push({ state: next, done: after })
      }
      const missing = mustBeBefore.filter((one) => !done.includes(one))
      if (missing.length === 0) {
        const all = this.#after(state, last)
        for (const next of all) found.add(next, this.#withObservers(next, done))
        // The end of a hold may also come after the operation. An acquisition may have to come before it, because of
        // its token.
        if (all.length > 0 && !this.#model.isOrdered && !this.#isMissingOne(done, last)) continue
        if (all.length === 0) this.#makeWay(state, done, last, push)
      }
      const nextOnes = nextOf(missing)
      for (const what of new Set([...this.#early, ...nextOnes])) {
        if (missing.includes(what) && !nextOnes.includes(what)) continue
        if (what === last || done.includes(what) || !this.#isNeeded(what, last)) continue
        if (this.#isTooSoon(what, done)) continue
        const all = this.#after(state, what)
        if (all.length === 0 && what.kind === 'acquire') this.#makeWay(state, done, what, push)
        for (const next of all) {
          // An operation that changes nothing may wait until it must take effect.
          if (next === state && (!this.#model.isOrdered || what.to === Infinity)) continue
          push(next, this.#withObservers(next, [...done, what]))
        }
      }
    }
    if (todo.length > 0) this.#isCut = true
  }

  /** Ends one of the holds that prevent an operation: by itself, or by a release that was requested. */
  #makeWay(state, done, operation, push) {
    for (const hold of this.#model.blockers?.(state, operation) ?? NOTHING) {
      if (this.#releaseOf(hold, state, done, push)) continue
      if (!this.#ending.has(hold)) continue
      const next = this.#model.end(state, hold)
      if (next !== undefined) push(next, done)
    }
  }

  /** @returns true if a release of the hold was requested; then no other way has to be tried */
  #releaseOf(hold, state, done, push) {
    for (const what of this.#early) {
      if (what.kind !== 'release' || what.hold !== hold || done.includes(what)) continue
      for (const next of this.#after(state, what)) {
        if (next === state) continue
        push(next, [...done, what])
        return true
      }
    }
    return false
  }

  /** The acquisitions whose tokens show that they came before this acquisition, although they return later. */
  #mustBeBefore({ kind, token }) {
    if (!this.#model.fenced || kind !== 'acquire' || token === undefined) return NOTHING
    const mayBeLower = (one) => token < (one.forgottenBelow ?? -Infinity)
    return [...this.#called.values()].filter(
      (one) => one.token < token && !one.again && !mayBeLower(one),
    )
  }

  /** The states to which an operation may lead. */
  #after(state, operation) {
    const next = this.#model.step(state, operation)
    if (next === undefined) return NOTHING
    return Array.isArray(next) ? next : [next]
  }

  /**
   * Lets operations that only observe take effect as soon as a state explains them. This prevents no other
   * explanation.
   */
  #withObservers(state, done) {
    const { observes } = this.#model
    if (observes === undefined) return done
    let all = done
    for (const what of this.#early) {
      if (what.to === Infinity || !observes(what) || all.includes(what)) continue
      if (this.#model.step(state, what) === state) all = [...all, what]
    }
    return all
  }

  /** True if an acquisition may still have to come before the last operation. */
  #isMissingOne(done, last) {
    for (const one of this.#early) {
      if (one.kind === 'acquire' && !done.includes(one) && this.#isNeeded(one, last)) return true
    }
    return false
  }

  /**
   * True if it matters that the operation comes before the last operation. A release does not prevent a later
   * acquisition, and tokens show the order of two acquisitions.
   */
  #isNeeded({ kind, hold, token, mode }, last) {
    // The model names the holds that prevent an operation.
    if (kind === 'release') return false
    if (kind !== 'acquire' || hold === last.hold) return true
    if (last.kind === 'release') return false
    const isUnordered = !this.#model.fenced || this.#unordered.size > 0
    if (isUnordered || token === undefined || last.token === undefined) return true
    const areBothReaders = mode === 'read' && last.mode === 'read'
    return token < last.token || (token === last.token && !areBothReaders)
  }

  /**
   * True if an acquisition with a lower token must still come, because nothing could explain it after this
   * acquisition. Without this check, each waiter during a loss may have had the lock for a moment or not. The number
   * of configurations would double with each waiter.
   */
  #isTooSoon({ kind, again, token }, done) {
    if (!this.#model.fenced || kind !== 'acquire' || again || token === undefined) return false
    for (const other of this.#called.values()) {
      // If a server forgot the last writer, a reader may get a lower token.
      const mayBeLower = token < (other.forgottenBelow ?? -Infinity)
      if (other.token < token && !mayBeLower && !other.again && !done.includes(other)) return true
    }
    return false
  }
}

/** The acquisitions that can be next, because they have the lowest token. The order of readers does not matter. */
function nextOf(acquisitions) {
  if (acquisitions.length < 2) return acquisitions
  const lowest = Math.min(...acquisitions.map(({ token }) => token))
  const first = acquisitions.filter(({ token }) => token === lowest)
  return first.every(({ mode }) => mode === 'read') ? first.slice(0, 1) : first
}

/** True if the first set has all elements of the second set, and more. */
function contains(more, few) {
  if (more.size <= few.size) return false
  for (const one of few) if (!more.has(one)) return false
  return true
}

const without = (done, operation) =>
  done.length === 1 && done[0] === operation ? NOTHING : done.filter((one) => one !== operation)

/** A set of configurations. */
class Found {
  all = []
  #keys
  #model

  constructor(model) {
    this.#model = model
  }

  get size() {
    return this.all.length
  }

  /** @returns true if the configuration is new */
  add(state, some) {
    const done = this.#withoutSpent(state, some)
    if (this.all.length > 0) {
      this.#keys ??= new Set(this.all.map((one) => keyOf(this.#model, one)))
      const key = keyOf(this.#model, { state, done })
      if (this.#keys.has(key)) return false
      this.#keys.add(key)
    }
    this.all.push({ state, done })
    return true
  }

  /**
   * Removes operations that can no longer change anything, because they make no difference between configurations.
   */
  #withoutSpent(state, done) {
    const { isSpent } = this.#model
    if (isSpent === undefined || done.length === 0) return done
    return done.filter((one) => one.to !== Infinity || !isSpent(state, one))
  }
}

function keyOf(model, { state, done }) {
  if (done.length === 0) return model.key(state)
  return `${model.key(state)}|${done.map(numberOf).sort().join()}`
}

const numbers = new WeakMap()
let count = 0
/** The number that identifies an operation in a key. */
function numberOf(operation) {
  let number = numbers.get(operation)
  if (number === undefined) {
    count += 1
    number = count
    numbers.set(operation, number)
  }
  return number
}
