"""Stores: the memory behind each kind of field, one class each."""

from collections.abc import Mapping
from typing import Any

from noregret.errors import Error
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.averaged import AveragedStore
from noregret.state.stores.base import Store as Store
from noregret.state.stores.basis import BasisStore
from noregret.state.stores.centre import CentreStore
from noregret.state.stores.covariance import CovarianceStore
from noregret.state.stores.decayed import DecayedStore
from noregret.state.stores.grouped import GroupedStore, LazyGroupsStore
from noregret.state.stores.lazy import LazyStore
from noregret.state.stores.log_weights import LogWeightsStore
from noregret.state.stores.plain import PlainStore
from noregret.state.stores.reservoir import ReservoirStore
from noregret.state.stores.scaled import ScaledStore
from noregret.state.stores.snapshot import SnapshotStore
from noregret.state.stores.top_k import TopKStore

STORES: dict[str, type[Store[Any]]] = {
    store.kind: store
    for store in (
        PlainStore,
        ScaledStore,
        LazyStore,
        LazyGroupsStore,
        GroupedStore,
        TopKStore,
        LogWeightsStore,
        SnapshotStore,
        AveragedStore,
        DecayedStore,
        CentreStore,
        CovarianceStore,
        BasisStore,
        ReservoirStore,
    )
}
GROUPS = (GroupedStore.kind, LazyGroupsStore.kind)


def find_store(kind: str) -> type[Store[Any]]:
    """Return the class of stores for a kind of field."""
    if kind not in STORES:
        raise Error(f"unknown kind of field {kind!r}; there are {', '.join(sorted(STORES))}")
    return STORES[kind]


def choose_store(field: Field, space: Space) -> Store[Any]:
    """Return the store for a field in a space: the reference algebra has eager ones."""
    return find_store(field.kind).choose(space)


def field_counters(fields: Mapping[str, Field]) -> dict[str, float]:
    """Return the counters that the stores of some fields need, with their initial values."""
    return {
        f"{name}_{number}": initial
        for name, field in fields.items()
        for number, initial in find_store(field.kind).numbers.items()
    }
