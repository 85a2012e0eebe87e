// Whether what was observed of a lock, or of a latch, could have been one thing after another: each operation has its
// effect at one moment between its call and its return. The search of Wing and Gong with the memory of
// Lowe, in the order of time: it keeps all configurations (a state of the lock, and which of the operations
// that have not returned had their effect) that explain what has returned so far. What is kept does not
// grow with the history, and where nothing is left, the last return is what cannot be explained.

const ORDER = { call: 0, mayEnd: 1, return: 2, endsNoMore: 3, expires: 4 }

/**
 * @param model one of models.mjs
 * @param history `operations`, and `endings`: `{ hold, from, to }`, between which times a hold may end by itself
 * @param most of how many configurations it is undecided
 * @returns `verdict`: 'linearizable', 'convicted' or 'undecided'; `at`: the operation that cannot be explained
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
 * An acquisition that never came back may have had its effect or not. Where nothing else was done in
 * its name, to leave it out explains whatever else can explain.
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
  /** Whether there was more to explore than is kept. */
  #isCut = false
  /** What may have its effect before it must. */
  #early = new Set()
  /** Acquisitions that have not returned, by hold. */
  #called = new Map()
  /** Those of them whose tokens tell no order. */
  #unordered = new Set()
  /** Holds that may end by themselves now, and for how many reasons. */
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
      // Nobody can undo it before it returns. So to let it come first explains nothing, unless the hold
      // can end by itself before that.
      this.#called.set(hold, operation)
      // Where a server forgot a token, those who asked at once may have been granted in any order.
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

  /** The hold has ended by then, or does not end for this reason. */
  endsNoMore(ending) {
    const { hold } = ending
    const found = new Found(this.#model)
    const called = this.#called.get(hold)
    for (const one of this.configurations) {
      found.add(one.state, one.done)
      this.#addEnded(hold, one, found)
      if (called === undefined || one.done.includes(called)) continue
      // It was granted meanwhile, and has ended since, before anybody was told.
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

  /** An operation that never came back was done before this, or never will be. */
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
   * A hold that may end by itself can as well end later. So a configuration in which it has ended explains nothing that
   * the same one with the hold does not.
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

  /** What can have come about with that as the last step. */
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
        // What ends a hold can as well come after it. An acquisition may have to come before, for its token.
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
          // What changes nothing can as well come when it must.
          if (next === state && (!this.#model.isOrdered || what.to === Infinity)) continue
          push(next, this.#withObservers(next, [...done, what]))
        }
      }
    }
    if (todo.length > 0) this.#isCut = true
  }

  /** Lets one of the holds end that keep an operation from being done: by itself, or by a release that was asked for. */
  #makeWay(state, done, operation, push) {
    for (const hold of this.#model.blockers?.(state, operation) ?? NOTHING) {
      if (this.#releaseOf(hold, state, done, push)) continue
      if (!this.#ending.has(hold)) continue
      const next = this.#model.end(state, hold)
      if (next !== undefined) push(next, done)
    }
  }

  /** @returns whether there is one that was asked for: then nothing of it is left to be explained */
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

  /** The acquisitions whose tokens tell that they were before this one, although they come back later. */
  #mustBeBefore({ kind, token }) {
    if (!this.#model.fenced || kind !== 'acquire' || token === undefined) return NOTHING
    const mayBeLower = (one) => token < (one.forgottenBelow ?? -Infinity)
    return [...this.#called.values()].filter(
      (one) => one.token < token && !one.again && !mayBeLower(one),
    )
  }

  /** The states that an operation may lead to. */
  #after(state, operation) {
    const next = this.#model.step(state, operation)
    if (next === undefined) return NOTHING
    return Array.isArray(next) ? next : [next]
  }

  /** What only observes is done as soon as a state explains it: that keeps nothing else from being explained. */
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

  /** Whether an acquisition may still have to come before the last one. */
  #isMissingOne(done, last) {
    for (const one of this.#early) {
      if (one.kind === 'acquire' && !done.includes(one) && this.#isNeeded(one, last)) return true
    }
    return false
  }

  /**
   * Whether it can make a difference that it comes before the last one. A release keeps no acquisition from coming
   * later, and tokens tell which of two acquisitions is first.
   */
  #isNeeded({ kind, hold, token, mode }, last) {
    // What holds are in the way, the model tells.
    if (kind === 'release') return false
    if (kind !== 'acquire' || hold === last.hold) return true
    if (last.kind === 'release') return false
    const isUnordered = !this.#model.fenced || this.#unordered.size > 0
    if (isUnordered || token === undefined || last.token === undefined) return true
    const areBothReaders = mode === 'read' && last.mode === 'read'
    return token < last.token || (token === last.token && !areBothReaders)
  }

  /**
   * Whether another one with a lower token must come still, which nothing could explain after this one. Without
   * this each who waited while a lock could be lost may have had it for a moment or not: two to the
   * power of their number.
   */
  #isTooSoon({ kind, again, token }, done) {
    if (!this.#model.fenced || kind !== 'acquire' || again || token === undefined) return false
    for (const other of this.#called.values()) {
      // A reader may be given a token that is lower, where a server forgot the last writer.
      const mayBeLower = token < (other.forgottenBelow ?? -Infinity)
      if (other.token < token && !mayBeLower && !other.again && !done.includes(other)) return true
    }
    return false
  }
}

/** Which of these acquisitions can be the next one: those with the lowest token. The order of readers is all the same. */
function nextOf(acquisitions) {
  if (acquisitions.length < 2) return acquisitions
  const lowest = Math.min(...acquisitions.map(({ token }) => token))
  const first = acquisitions.filter(({ token }) => token === lowest)
  return first.every(({ mode }) => mode === 'read') ? first.slice(0, 1) : first
}

/** Whether all of the second, and more, are in the first. */
function contains(more, few) {
  if (more.size <= few.size) return false
  for (const one of few) if (!more.has(one)) return false
  return true
}

const without = (done, operation) =>
  done.length === 1 && done[0] === operation ? NOTHING : done.filter((one) => one !== operation)

/** Configurations, each once. */
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

  /** @returns whether it is new */
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

  /** Whether that was done that can change nothing any more, makes no difference. */
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
/** Tells operations apart in a key. */
function numberOf(operation) {
  let number = numbers.get(operation)
  if (number === undefined) {
    count += 1
    number = count
    numbers.set(operation, number)
  }
  return number
}
