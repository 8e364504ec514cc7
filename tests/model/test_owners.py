from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubewright.model import (
    AlreadyOwned,
    Object,
    ObjectMeta,
    OwnerError,
    OwnerReference,
    add_finalizer,
    controller_of,
    encode,
    has_finalizer,
    is_controlled_by,
    is_owned_by,
    owner_reference,
    remove_finalizer,
    remove_owner,
    set_controller,
    set_owner,
    unstructured,
)

from .kinds import ConfigMap, Fleet, Web, WebSpec


def web(name="a", uid="u1", namespace="ns"):
    return Web(spec=WebSpec(image="x"), metadata=ObjectMeta(name=name, namespace=namespace, uid=uid))


def child(namespace="ns"):
    return ConfigMap(metadata=ObjectMeta(name="c", namespace=namespace))


def test_a_reference_names_the_owner_in_full():
    reference = owner_reference(web())
    assert encode(reference) == (
        b'{"apiVersion":"example.com/v1","kind":"Web","name":"a","uid":"u1","controller":true,"blockOwnerDeletion":true}'
    )
    plain = owner_reference(web(), controller=False, block_owner_deletion=False)
    assert (plain.controller, plain.block_owner_deletion) == (None, None)


def test_a_kind_without_a_class_owns_as_well():
    cls = unstructured("other.io/v2", "Thing")
    owner = cls(metadata=ObjectMeta(name="t", namespace="ns", uid="u9"))
    assert owner_reference(owner).api_version == "other.io/v2"
    assert set_controller(owner, child())


def test_an_owner_without_a_uid_or_a_name_cannot_own():
    with pytest.raises(OwnerError, match="Web ns/a: has no UID yet and cannot own; use the object that the server"):
        owner_reference(web(uid=""))
    with pytest.raises(OwnerError, match="has no name yet"):
        owner_reference(web(name=""))


def test_an_owner_whose_class_has_no_kind_cannot_own():
    class Nameless(Object):
        pass

    with pytest.raises(TypeError, match="Nameless: its kind is not known"):
        owner_reference(Nameless(metadata=ObjectMeta(name="a", uid="u")))


def test_setting_the_controller_says_whether_the_child_changed():
    owner, owned = web(), child()
    assert set_controller(owner, owned)
    assert not set_controller(owner, owned)
    assert owned.metadata.owner_references == [owner_reference(owner)]
    assert controller_of(owned) is owned.metadata.owner_references[0]
    assert is_controlled_by(owned, owner)
    assert set_controller(owner, owned, block_owner_deletion=False)
    assert owned.metadata.owner_references == [owner_reference(owner, block_owner_deletion=False)]


def test_an_owner_becomes_the_controller_in_place():
    owner, owned = web(), child()
    set_owner(web("first", "u0"), owned)
    set_owner(owner, owned)
    set_owner(web("last", "u2"), owned)
    assert set_controller(owner, owned)
    assert [each.name for each in owned.metadata.owner_references] == ["first", "a", "last"]
    assert controller_of(owned).uid == "u1"


def test_a_child_has_one_controller_only():
    owned = child()
    set_controller(web("other", "u0"), owned)
    with pytest.raises(AlreadyOwned) as caught:
        set_controller(web(), owned)
    assert str(caught.value) == (
        "ConfigMap ns/c is already controlled by Web other, so that Web a cannot control it; "
        "give the child another name"
    )
    assert (caught.value.current.uid, caught.value.wanted.uid, str(caught.value.child)) == ("u0", "u1", "ns/c")
    assert len(owned.metadata.owner_references) == 1


def test_a_child_of_an_earlier_owner_of_the_same_name_is_not_taken_over():
    owned = child()
    set_controller(web(uid="old"), owned)
    with pytest.raises(AlreadyOwned, match=r"with UID old, an earlier one of the same name .* try again later"):
        set_controller(web(uid="new"), owned)
    assert not is_controlled_by(owned, web(uid="new"))
    assert not remove_owner(web(uid="new"), owned)


def test_set_owner_does_not_demote_the_controller():
    owner, owned = web(), child()
    set_controller(owner, owned)
    assert not set_owner(owner, owned)
    assert is_controlled_by(owned, owner)


def test_several_owners_share_a_child():
    owned = child()
    assert set_owner(web(), owned)
    assert set_owner(web("b", "u2"), owned, block_owner_deletion=True)
    assert not set_owner(web(), owned)
    assert controller_of(owned) is None
    assert is_owned_by(owned, web())
    assert not is_controlled_by(owned, web())
    assert not is_owned_by(owned, web("b", "u3"))


def test_an_owner_without_a_uid_owns_nothing():
    owned = child()
    owned.metadata.owner_references.append(
        OwnerReference(api_version="example.com/v1", kind="Web", name="a", uid="", controller=True)
    )
    assert not is_controlled_by(owned, web(uid=""))
    assert not is_owned_by(owned, web(uid=""))


def test_removing_an_owner_says_whether_it_was_one():
    owned = child()
    set_owner(web(), owned)
    set_owner(web("b", "u2"), owned)
    assert remove_owner(web(), owned)
    assert not remove_owner(web(), owned)
    assert [each.uid for each in owned.metadata.owner_references] == ["u2"]


def test_a_cluster_scoped_owner_owns_in_any_namespace():
    fleet = Fleet(metadata=ObjectMeta(name="f", uid="u1"))
    assert set_controller(fleet, child("one"))
    assert set_controller(fleet, Fleet(metadata=ObjectMeta(name="g")))


@pytest.mark.parametrize("setter", [set_controller, set_owner])
@pytest.mark.parametrize(
    ("owned", "rule"),
    [
        (child("other"), "Web ns/a cannot own ConfigMap other/c: owners and children share a namespace; put the child"),
        (child(""), "Web ns/a cannot own ConfigMap c: the child has no namespace; set metadata.namespace to 'ns'"),
        (
            Fleet(metadata=ObjectMeta(name="f")),
            "Web ns/a cannot own Fleet f: the child is cluster-scoped, the owner is not; delete it in a finalizer",
        ),
    ],
)
def test_what_the_garbage_collector_would_not_find_is_refused(setter, owned, rule):
    with pytest.raises(OwnerError) as caught:
        setter(web(), owned)
    assert rule in str(caught.value)
    assert owned.metadata.owner_references == []


# -- finalizers -------------------------------------------------------------------------------------------------------


def test_finalizers_are_added_and_removed_once():
    obj = web()
    assert not has_finalizer(obj, "example.com/x")
    assert add_finalizer(obj, "example.com/x")
    assert not add_finalizer(obj, "example.com/x")
    assert obj.metadata.finalizers == ["example.com/x"]
    assert has_finalizer(obj, "example.com/x")
    assert remove_finalizer(obj, "example.com/x")
    assert not remove_finalizer(obj, "example.com/x")
    assert obj.metadata.finalizers == []


def test_removing_a_finalizer_keeps_those_of_others():
    obj = web()
    obj.metadata.finalizers = ["a.io/x", "b.io/x", "a.io/x"]
    remove_finalizer(obj, "a.io/x")
    assert obj.metadata.finalizers == ["b.io/x"]


@pytest.mark.parametrize(
    ("finalizer", "rule"),
    [
        ("cleanup", "finalizer 'cleanup': has no domain; write it as example.com/name"),
        ("example.com/", "finalizer 'example.com/': has no name"),
        ("Example.com/x", "has a prefix that is not a DNS name"),
        ("a b/c", "has a prefix that is not a DNS name"),
    ],
)
def test_a_finalizer_has_a_domain_and_a_name(finalizer, rule):
    with pytest.raises(ValueError) as caught:
        add_finalizer(web(), finalizer)
    assert rule in str(caught.value)


def test_the_standard_finalizers_need_no_domain():
    assert add_finalizer(web(), "orphan")
    assert add_finalizer(web(), "foregroundDeletion")


def test_an_object_that_is_being_deleted_takes_no_new_finalizer():
    obj = web()
    add_finalizer(obj, "example.com/x")
    obj.metadata.deletion_timestamp = datetime(2026, 1, 1, tzinfo=UTC)
    assert not add_finalizer(obj, "example.com/x")
    with pytest.raises(ValueError, match="Web ns/a is being deleted and takes no new one; look at metadata"):
        add_finalizer(obj, "example.com/y")
    assert remove_finalizer(obj, "example.com/x")
